"""Marks of what became of a digest's commits since, put into its first message: a mark at the end of a line, and lines that are struck.

Only what was there is added to: the message is not made again, since what is stored or how it is worded may have changed.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from analysis.locale import Catalogue, Language, catalogue, mark
from bot.slack.messages.blocks import Block, Piece, linked, ours
from bot.slack.messages.impacts import BREAKS_SIGN, THREAD_MARK

_MARKED = re.compile(rf'(?<="url": )"([^"]+){THREAD_MARK}"')
_REVERTED = "↩️"

Kind = Literal["reverted", "fixed", "released", "adapted", "in part", "taken", "put off", "no concern"]
_SIGNS: Mapping[Kind, str] = {
    "reverted": f"{_REVERTED} ",
    "fixed": "🩹 ",
    "released": "📦 ",
    "adapted": "✅ ",
    "in part": "✅ ",
    "taken": "🙋 ",
    "put off": "⏰ ",
    "no concern": "🚫 ",
}
_BY = {"reverted": mark("reverted by {sha}"), "fixed": mark("fixed by {sha}"), "adapted": mark("adapted by {sha}")}


class Mark(NamedTuple):
    """A mark at the end of a line: what it names, and the address of that. A person is named by id, a day in ISO form."""

    kind: Kind
    what: str = ""
    url: str = ""


class Edits(NamedTuple):
    """What was put into a digest's first message since it was sent. All of it is JSON.

    `links` maps the addresses of commits to their messages in the thread, `marks` to [kind, what, url] of each mark; `struck`
    has those whose lines are struck. `counts` are the breaks, and how many are adapted and undone. `refused` is Slack's code
    if it lets the message be edited no more.
    """

    links: Mapping[str, str] = {}
    marks: Mapping[str, Sequence[Sequence[str]]] = {}
    struck: Sequence[str] = ()
    counts: Sequence[int] = ()
    refused: str = ""

    def edited(self, content: Mapping[str, Any], language: Language) -> dict[str, Any]:
        """Return a message's content, as it was frozen, with all this in it."""
        blocks = [self._marked(block, catalogue(language)) for block in content.get("blocks") or ()]
        written = json.dumps(blocks, ensure_ascii=False)
        blocks = json.loads(_MARKED.sub(lambda found: json.dumps(self.links.get(found[1], found[0][1:-1])), written))
        return {**content, "blocks": blocks}

    def _marked(self, block: Block, say: Catalogue) -> Block:
        if block["type"] != "rich_text":
            return block
        parts = [
            {**part, "elements": [self._row(row, say) for row in part["elements"]]}
            if part["type"] == "rich_text_list"
            else self._heading(part, say)
            for part in block["elements"]
        ]
        return {**block, "elements": parts}

    def _heading(self, part: Mapping[str, Any], say: Catalogue) -> dict[str, Any]:
        """Return a heading, that of what breaks the channel's code with what became of it."""
        pieces = list(part["elements"])
        if self.counts and pieces and str(pieces[0].get("text", "")).startswith(BREAKS_SIGN):
            every, adapted, undone = self.counts
            if adapted:
                pieces += ours(" · " + say("{count} of {all} adapted", count=adapted, all=every))
            if undone:
                pieces += ours(" · " + say("{count} of {all} undone upstream", count=undone, all=every))
        return {**part, "elements": pieces}

    def _row(self, row: Mapping[str, Any], say: Catalogue) -> dict[str, Any]:
        """Return a line with the marks of its commits; what it said already when it was sent is not said twice."""
        pieces = list(row["elements"])
        urls = {each: None for each in _addresses(pieces) if "/commit/" in each or each in self.marks}
        if urls and all(each in self.struck for each in urls):
            pieces = [{**each, "style": {**each.get("style", {}), "strike": True}} for each in pieces]
        told = any(_REVERTED in str(each.get("text")) for each in pieces)
        for kind, what, address in (each for url in urls for each in self.marks.get(url, ())):
            if not (kind == "reverted" and told):
                pieces += [*ours(" · "), *_pieces(Mark(kind, what, address), say)]  # type: ignore[arg-type]
        return {**row, "elements": pieces}


def marked_urls(blocks: Sequence[Block]) -> list[str]:
    """Return the addresses of the commits in a message's lines that are to be linked to the thread, each once."""
    return list(dict.fromkeys(_MARKED.findall(json.dumps(blocks, ensure_ascii=False))))


def _addresses(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the addresses that a line links to, the last one first, which is its commit's."""
    for each in reversed(pieces):
        if each.get("type") == "link":
            yield str(each["url"]).removesuffix(THREAD_MARK)


def _pieces(told: Mark, say: Catalogue) -> list[Piece]:
    what = told.what
    match told.kind:
        case "reverted" | "fixed" | "adapted":
            before, _, after = say(_BY[told.kind]).partition("{sha}")
            return [*ours(_SIGNS[told.kind] + before), *linked(what, told.url), *ours(after)]
        case "taken":
            return [*ours(_SIGNS[told.kind]), {"type": "user", "user_id": what}]
        case "in part":
            adapted, _, every = what.partition("/")
            text = say("{count} of {all} adapted", count=adapted, all=every)
        case "put off":
            text = say("put off until {day}", day=what)
        case "released":
            text = say("in {release}", release=what)
        case "no concern":
            text = say("no concern here")
    return ours(_SIGNS[told.kind] + text)
