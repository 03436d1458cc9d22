"""Slack's markup in what people type, converted to plain text."""

import html
import re

_FILE_AS_HOST = re.compile(r"<https?://([\w.-]+\.(?:py|so|sh|cc|rs))\|\1>")  # Slack links such names


def plain(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text on one line."""
    return " ".join(plain_lines(text, bot_user).split())


def plain_lines(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text: remove mentions of the bot, unwrap URLs, unescape entities; keep the lines."""
    if bot_user:
        text = re.sub(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>[\s,:，：]*", " ", text)
    text = _FILE_AS_HOST.sub(r"\1", text)
    text = re.sub(r"<(https?://[^|>]+)(?:\|[^>]*)?>", r"\1", text)
    text = re.sub(r"<(?:mailto|tel):[^|>]*\|([^>]*)>", r"\1", text)
    return html.unescape(text).replace("\0", " ").strip()
