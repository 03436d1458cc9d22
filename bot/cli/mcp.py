"""The command `mcp`: the MCP server on standard input and output."""

from datetime import UTC, datetime

from bot.cli.command_settings import command_settings


def mcp() -> None:
    """Serve an agent over MCP. It reads what is stored and what commands read, on standard input and output."""
    from bot.mcp.stdio import serve_stdio

    serve_stdio(command_settings(), lambda: datetime.now(UTC))
