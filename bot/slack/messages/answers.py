"""An answer as Markdown for Slack, in which all markup is escaped except the links that we make; and the buttons by which people rate it."""

import re
from collections.abc import Iterable, Iterator

from analysis.locale import Language, catalogue
from analysis.models import Citation, Statement
from analysis.sources.secrets import Redactor
from analysis.text import one_line, visible
from bot.slack.messages.blocks import Action, Block

_SPANS = re.compile(r"(`[^`\n]+`)")
# Characters of emphasis, links and tables; and at the start of a line those of headings, lists and rules.
_MARKUP = re.compile(r"[\\*~\[\]|]|(?<![^\W_])_|_(?![^\W_])")
_LINE_MARKUP = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[#=+-]))")
# Positions for a zero-width space, which prevents URLs, mentions, character entities and quotations.
_BREAK_POINTS = re.compile(r"(?<=:/)(?=/)|(?<=www)(?=\.)|(?<=\S)(?=@\w)|(?<=&)(?=#?\w+;)|^(?=>)", re.IGNORECASE)
# Slack would link scheduler.py as a host name: substitute the look-alike one-dot leader.
_DOMAIN_DOT = re.compile(r"(?<=[\w-])\.(?=[^\W\d_])")
HELPFUL, UNHELPFUL = "helpful", "unhelpful"  # the values of the buttons


def streamed(statements: Iterable[Statement], question: str = "") -> Iterator[str]:
    """Yield the statements as consecutive pieces of Markdown, after the quoted question, without its secrets, if given."""
    if question:
        yield f"> {prose(one_line(Redactor()(question)))}\n\n"
    before = None
    for statement in statements:
        yield _separator(before, statement) + statement_markdown(statement)
        before = statement


def statement_markdown(statement: Statement) -> str:
    """Return one statement as Markdown with its citations as links."""
    if statement.kind == "code":
        body = "```\n" + _inert_code(statement.text).replace("```", "'''") + "\n```"
    else:
        body = ("- " if statement.kind == "item" else "") + prose(statement.text)
    links = " ".join(map(_link, statement.citations))
    joint = "\n" if statement.kind == "code" else " "
    return f"{body}{joint}{links}" if links else body


def prose(text: str) -> str:
    """Return text from outside on one line as Markdown: `code` spans stay, all other markup is escaped."""
    pieces = _SPANS.split(one_line(text))
    shown = [
        _inert_code(each) if place % 2 else _DOMAIN_DOT.sub("\u2024", _escape(each))
        for place, each in enumerate(pieces)
    ]
    return _LINE_MARKUP.sub(r"\1\\", "".join(shown))


def _separator(before: Statement | None, statement: Statement) -> str:
    if before is None:
        return ""
    if statement.kind != before.kind or statement.new_paragraph or statement.kind == "code":
        return "\n\n"
    return "\n" if statement.kind == "item" else " "


def _escape(text: str) -> str:
    shown = _MARKUP.sub(r"\\\g<0>", text.replace("`", "'"))
    return _entities(_BREAK_POINTS.sub("\u200b", shown))


def _inert_code(text: str) -> str:
    return _entities(visible(text, keep="\n"))


def _entities(text: str) -> str:
    # Only these characters delimit Slack's tokens; escaping ampersands would break links.
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _link(citation: Citation) -> str:
    link = f"[{_label(citation.label)}]({_address(citation.url)})"
    return f"{link} ({_label(citation.place)})" if citation.place else link


def _label(label: str) -> str:
    return _escape(one_line(label))


def _address(url: str) -> str:
    return (
        re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", url)
        if url.startswith(("https://", "http://"))
        else ""
    )


def feedback_buttons(language: Language) -> Block:
    """Return the pair of buttons. Slack marks the one that was pressed, and does not say when it is taken back."""
    say = catalogue(language)
    pair = {
        "type": "feedback_buttons",
        "action_id": Action.RATE_ANSWER,
        "positive_button": _half("👍", say("This answer helped"), HELPFUL),
        "negative_button": _half("👎", say("This answer did not help"), UNHELPFUL),
    }
    return {"type": "context_actions", "elements": [pair]}


def _half(text: str, label: str, value: str) -> Block:
    return {"text": {"type": "plain_text", "text": text}, "accessibility_label": label, "value": value}
