"""Block Kit as HTML, one function per block type. Nothing is fetched from outside."""

import json
from collections.abc import Callable, Iterable

from markupsafe import Markup

from loopback.page.elements import Context, element, identity, words
from loopback.page.markup import joined, tag
from loopback.page.player import Viewer
from loopback.page.text import markdown, rich_text
from loopback.slack.workspace import Json


def blocks(given: Iterable[Json], viewer: Viewer) -> Markup:
    """Render blocks in order; an unsupported block is shown as its JSON."""
    return joined(*(_block(each, viewer) for each in given))


def _block(block: Json, viewer: Viewer) -> Markup:
    render = _RENDER.get(block["type"])
    inside = render(block, viewer) if render else _unknown(block, viewer)
    return tag("div", inside, class_=f"block {block['type']}", data_block_id=block.get("block_id"))


def _header(block: Json, viewer: Viewer) -> Markup:
    return tag("h3", words(block["text"], viewer))


def _section(block: Json, viewer: Viewer) -> Markup:
    return tag("div", words(block["text"], viewer), class_="text")


def _context(block: Json, viewer: Viewer) -> Markup:
    return joined(*(tag("span", words(each, viewer), class_="text") for each in block["elements"]))


def _actions(block: Json, viewer: Viewer) -> Markup:
    return joined(*(element(each, Context(viewer, block)) for each in block["elements"]))


def _input(block: Json, viewer: Viewer) -> Markup:
    given, label = block["element"], block["label"]["text"]
    optional = bool(block.get("optional"))
    context = Context(viewer, block, in_input=True, required=not optional)
    name = identity(block, given.get("action_id", ""))
    heading = joined(label, tag("small", " ", viewer.say("optional")) if optional else "")
    below = (
        tag("p", words(block["hint"], viewer), class_="hint") if "hint" in block else "",
        tag("p", class_="error", id=f"{name}-error", role="alert", hidden=True),
    )
    return joined(tag("label", heading, for_=name), element(given, context), *below)


def _markdown(block: Json, _viewer: Viewer) -> Markup:
    return markdown(block["text"], in_message=True)


def _unknown(block: Json, viewer: Viewer) -> Markup:
    summary = tag("summary", viewer.say("cannot_show", kind=block["type"]))
    return tag("details", summary, tag("pre", json.dumps(block, ensure_ascii=False, indent=2)))


_RENDER: dict[str, Callable[[Json, Viewer], Markup]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "actions": _actions,
    "context_actions": _actions,
    "input": _input,
    "markdown": _markdown,
    "rich_text": rich_text,
}
