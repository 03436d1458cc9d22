"""Checks of the MCP server."""

from collections.abc import Iterator

from bot.doctor.finding import Finding, not_set
from bot.settings import Settings


def mcp(settings: Settings) -> Iterator[Finding]:
    """Say who reaches the MCP server."""
    if settings.digest_mcp_token is None:
        yield not_set("MCP token", "DIGEST_MCP_TOKEN lets agents call /mcp of serve; the command mcp needs none")
    else:
        names = ", ".join(["this machine", *settings.digest_mcp_hosts])
        private = "with" if settings.digest_mcp_private else "without"
        yield Finding("MCP token", f"/mcp of serve answers under the names of {names}, {private} private repositories")
