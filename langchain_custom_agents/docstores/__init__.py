"""Places where pages live: anything with a search method."""
