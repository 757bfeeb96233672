"""The embedded default: stand-ins for trying and testing, not language models."""
