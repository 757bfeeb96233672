"""Models: how words are asked for, and text models with tool calling."""
