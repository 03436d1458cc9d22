"""Checks of the model, and of who reaches the MCP server."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

from analysis.errors import BadSetting, ModelFailure
from analysis.llm import ChatModel
from bot.doctor.finding import SILENCE, Finding, check, not_set
from bot.settings import Settings

_TOKENS = 1000  # tokens, to find out whether a price is known


def model(settings: Settings) -> Iterator[Finding]:
    """Check that the model answers, with a single token."""
    if settings.digest_model:
        yield check("model", partial(_answering, settings, settings.digest_model))
    else:
        yield not_set(
            "model", "DIGEST_MODEL chooses the model for analyses and answers; without it they come from rules"
        )


def _answering(settings: Settings, name: str) -> str:
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    base_url = settings.openai_base_url
    with closing(ChatModel(name, base_url=base_url, api_key=key, timeout=SILENCE, retries=0)) as chat:
        try:
            chat.try_out()
        except ModelFailure as exc:
            kind = BadSetting if exc.lasting else ModelFailure
            raise kind(f"{name}: {exc}") from exc
        known = chat.cost(_TOKENS, _TOKENS) is not None
    usd = f"{settings.digest_daily_budget_usd:.2f} USD a day"
    return f"{name} answers; " + (
        f"at most {usd}" if known else "its prices are unknown, so the budget does not limit it"
    )


def mcp(settings: Settings) -> Iterator[Finding]:
    """Say who reaches the MCP server."""
    if settings.digest_mcp_token is None:
        yield not_set("MCP token", "DIGEST_MCP_TOKEN lets agents call /mcp of serve; the command mcp needs none")
    else:
        names = ", ".join(["this machine", *settings.digest_mcp_hosts])
        private = "with" if settings.digest_mcp_private else "without"
        yield Finding("MCP token", f"/mcp of serve answers under the names of {names}, {private} private repositories")
