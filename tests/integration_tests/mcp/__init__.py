"""Tools of an MCP server."""
