"""OpenAI's own client against servers of its protocol that are not ours."""
