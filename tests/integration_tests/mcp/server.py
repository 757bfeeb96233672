"""An MCP server over standard input and output, with tools of several and of no arguments."""

from mcp.server.fastmcp import FastMCP

server = FastMCP("weather")


@server.tool()
def weather(city: str, days: int = 1) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city} for {days} days"


@server.tool()
def now() -> str:
    """Tell the time."""
    return "noon"


if __name__ == "__main__":
    server.run("stdio")
