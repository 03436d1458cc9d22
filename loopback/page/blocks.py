"""Block Kit as HTML, one function per block type. Nothing is fetched from outside: external images become links."""

import json
from collections.abc import Callable, Iterable

from markupsafe import Markup

from loopback.page.elements import Context, element, identity, is_group, words
from loopback.page.markdown import markdown
from loopback.page.markup import joined, link, tag
from loopback.page.player import Viewer
from loopback.page.rich_text import rich_text
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
    text = tag("div", words(block["text"], viewer), class_="text") if "text" in block else ""
    fields = [tag("div", words(each, viewer), class_="text") for each in block.get("fields", ())]
    listed = tag("div", *fields, class_="fields") if fields else ""
    return joined(tag("div", text, listed, class_="grow"), _accessory(block, viewer))


def _accessory(block: Json, viewer: Viewer) -> Markup:
    beside = block.get("accessory")
    if not beside:
        return Markup()
    shown = _image(beside, viewer) if beside["type"] == "image" else element(beside, Context(viewer, block))
    return tag("div", shown, class_="accessory")


def _context(block: Json, viewer: Viewer) -> Markup:
    return joined(
        *(
            _image(each, viewer) if each["type"] == "image" else tag("span", words(each, viewer), class_="text")
            for each in block["elements"]
        )
    )


def _divider(_block: Json, _viewer: Viewer) -> Markup:
    return tag("hr")


def _actions(block: Json, viewer: Viewer) -> Markup:
    return joined(*(element(each, Context(viewer, block)) for each in block["elements"]))


def _input(block: Json, viewer: Viewer) -> Markup:
    given, label = block["element"], block["label"]["text"]
    optional = bool(block.get("optional"))
    context = Context(viewer, block, True, label, not optional, bool(block.get("dispatch_action")))  # noqa: FBT003
    name = identity(block, given.get("action_id", ""))
    heading = joined(label, tag("small", " ", viewer.say("optional")) if optional else "")
    below = (
        tag("p", words(block["hint"], viewer), class_="hint") if "hint" in block else "",
        tag("p", class_="error", id=f"{name}-error", role="alert", hidden=True),
    )
    if is_group(given["type"]):
        return tag("fieldset", tag("legend", heading), element(given, context), *below)
    return joined(tag("label", heading, for_=name), element(given, context), *below)


def _image(given: Json, viewer: Viewer) -> Markup:
    title = given.get("title", {}).get("text") or given["alt_text"]
    shown = viewer.say("image", alt=title)
    return tag("span", "🖼 ", link(str(given.get("image_url", "")), shown), class_="picture")


def _markdown(block: Json, _viewer: Viewer) -> Markup:
    return markdown(block["text"], in_message=True)


def _unknown(block: Json, viewer: Viewer) -> Markup:
    summary = tag("summary", viewer.say("cannot_show", kind=block["type"]))
    return tag("details", summary, tag("pre", json.dumps(block, ensure_ascii=False, indent=2)))


_RENDER: dict[str, Callable[[Json, Viewer], Markup]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "divider": _divider,
    "actions": _actions,
    "context_actions": _actions,
    "input": _input,
    "image": _image,
    "markdown": _markdown,
    "rich_text": rich_text,
}
