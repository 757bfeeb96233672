"""Models: how words are asked for, and any text model as a chat model with tool calling."""
