"""Messages and views as HTML, as one player sees them."""

from datetime import UTC, datetime

from markupsafe import Markup

from loopback.page.blocks import blocks
from loopback.page.markup import joined, tag
from loopback.page.player import Viewer
from loopback.page.text import mrkdwn
from loopback.slack.workspace import SLACKBOT, Json

_EYE = "M12 5C6 5 2 12 2 12s4 7 10 7 10-7 10-7-4-7-10-7Zm0 11a4 4 0 1 1 0-8 4 4 0 0 1 0 8Z"
_REPLY = "M4 5h16v11H9l-5 4V5Z"
_EXPLAIN = "M12 3a6 6 0 0 1 3 11v3H9v-3a6 6 0 0 1 3-11ZM10 21h4"
_CODE = "m8 7-5 5 5 5M16 7l5 5-5 5"
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif"})  # shown in place; other files are opened
_FILE = "M6 2h8l5 5v15H6V2Zm8 0v5h5"


def message(given: Json, viewer: Viewer) -> Markup:
    """Render a message; `given` is its Web API form with `channel` and `only_for`."""
    place = f"#{given['channel']}"
    threaded = not given.get("is_ephemeral") and given.get("subtype") != "tombstone"
    thread = f"{place}/t/{given.get('thread_ts', given['ts'])}" if threaded else None
    body = tag(
        "div",
        tag("p", icon(_EYE), viewer.say("only_you"), class_="only") if given.get("is_ephemeral") else "",
        _head(given, thread or place, viewer),
        tag("div", _content(given, viewer), class_="body"),
        *(_file(each, place, given, viewer) for each in given.get("files", ())),
        _replies(given, place, viewer),
    )
    kinds = [
        "message",
        "private" if given.get("is_ephemeral") else "",
        "streaming" if given.get("streaming_state") else "",
    ]
    return tag(
        "article",
        avatar(given["user"], bot="bot_id" in given),
        body,
        _tools(given["ts"], thread, viewer),
        class_=" ".join(filter(None, kinds)),
        data_ts=given["ts"],
        data_channel=given["channel"],
        tabindex=-1,
        aria_busy="true" if given.get("streaming_state") else None,
    )


def _head(given: Json, address: str, viewer: Viewer) -> Markup:
    """Render the author and the time, which links to `address`."""
    return tag(
        "div",
        tag("span", viewer.name(given["user"]), class_="name"),
        tag("span", viewer.say("app"), class_="badge") if "bot_id" in given else "",
        tag("a", _clock(given["ts"]), href=address, class_="when"),
        class_="head",
    )


def _tools(ts: str, thread: str | None, viewer: Viewer) -> Markup:
    """Render a message's buttons: reply in its `thread` and the app's shortcut, if it can have them, and show its JSON."""

    def tool(name: str, shown: Markup, words: str, class_: str = "tool", **more: object) -> Markup:
        said = viewer.say(words)
        return tag(name, shown, class_=class_, aria_label=said, title=said, **more)

    reply = tool("a", icon(_REPLY), "reply_in_thread", "tool reply", href=thread)
    explain = tool(
        "button", icon(_EXPLAIN, line=True), "explain_commits", type="button", data_shortcut="explain_commits"
    )
    source = tool("button", icon(_CODE, line=True), "source_of", type="button", data_source=ts)
    return tag("div", *((reply, explain) if thread else ()), source, class_="tools")


def _content(given: Json, viewer: Viewer) -> Markup:
    """Render the blocks, or the text if there are none, as in Slack."""
    text = tag("div", mrkdwn(given["text"], viewer), class_="text") if given.get("text") else Markup()
    edited = (
        tag("small", viewer.say("edited"), class_="edited") if given.get("edited") and "bot_id" not in given else ""
    )
    return joined(blocks(given["blocks"], viewer) if given.get("blocks") else text, edited)


def _file(file: Json, place: str, given: Json, viewer: Viewer) -> Markup:
    thread = f"/t/{given['thread_ts']}" if given.get("thread_ts") else ""
    if file["mimetype"] in IMAGES:
        return tag(
            "a",
            image(file["id"], file.get("alt_txt") or file["title"], viewer),
            href=f"{place}{thread}/file/{file['id']}",
            class_="image",
        )
    size = f"{file['size'] / 1024:,.1f} KB" if file["size"] >= 1024 else f"{file['size']} B"  # noqa: PLR2004
    return tag(
        "a",
        icon(_FILE, line=True),
        tag("span", tag("strong", file["title"]), tag("small", f"{file['filetype'].upper()[:8]} · {size}")),
        href=f"{place}{thread}/file/{file['id']}",
        class_="file",
        aria_label=viewer.say("open_file", name=file["title"]),
    )


def image(file_id: str, alt: str, viewer: Viewer) -> Markup:
    """Render an uploaded picture."""
    return tag("img", src=f"files/{file_id}/raw?as={viewer.user}", alt=alt, class_="upload")


def _replies(given: Json, place: str, viewer: Viewer) -> Markup:
    count = given.get("reply_count", 0)
    if not count:
        return Markup()
    count_text = viewer.say("reply") if count == 1 else viewer.say("replies", count=count)
    faces = [avatar(user, bot=user == viewer.workspace.bot_user) for user in given["reply_users"][:4]]
    last = tag("small", viewer.say("last_reply"), " ", _clock(given["latest_reply"]))
    return tag("a", *faces, tag("strong", count_text), last, href=f"{place}/t/{given['ts']}", class_="replies")


def _clock(ts: str) -> Markup:
    """Render a time, which the browser shows in its own time zone."""
    at = datetime.fromtimestamp(float(ts), UTC)
    return tag("time", f"{at:%H:%M}", datetime=at.isoformat(timespec="milliseconds"), data_ts=ts)


def avatar(user: str, *, bot: bool = False) -> Markup:
    """Render an avatar: the app's icon, or a letter on the person's colour."""
    if bot:
        return tag("span", class_="avatar app", aria_hidden="true")
    letter = "S" if user == SLACKBOT else user.removeprefix("U0")[:1]
    return tag("span", letter, class_=f"avatar tone-{sum(map(ord, user)) % 5}", aria_hidden="true")


def icon(path: str, *, line: bool = False) -> Markup:
    """Render an icon from an SVG path on a 24x24 grid."""
    drawn = tag("path", d=path)
    return tag("svg", drawn, viewBox="0 0 24 24", class_="icon line" if line else "icon", aria_hidden="true")


def modal(view: Json, viewer: Viewer) -> Markup:
    """Render a modal: heading, form and buttons."""

    def text(name: str, otherwise: str) -> str:
        return str((view.get(name) or {}).get("text") or otherwise)

    submit = (
        tag("button", text("submit", viewer.say("send")), type="submit", class_="button primary")
        if view.get("submit")
        else ""
    )
    close = tag("button", text("close", viewer.say("close")), type="button", class_="button", data_dismiss=True)
    return tag(
        "form",
        tag(
            "header",
            avatar("", bot=True),
            tag("h2", text("title", ""), id="modal-title"),
            tag("button", "✕", type="button", class_="tool", data_dismiss=True, aria_label=viewer.say("close")),
        ),
        tag("div", blocks(view["blocks"], viewer), class_="blocks", tabindex=-1),
        tag("footer", close, submit),
        data_view=view["id"],
        method="dialog",
    )  # fmt: skip


def home(view: Json, viewer: Viewer) -> Markup:
    """Render a Home tab."""
    return tag("div", blocks(view["blocks"], viewer), class_="home", data_view=view["id"])
