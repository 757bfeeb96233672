"""The same model through several agents."""
