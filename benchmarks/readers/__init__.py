"""A scoreboard for readers: what each makes of turns that are known."""
