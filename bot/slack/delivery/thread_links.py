"""Links from a posted digest's head to the messages of its commits, which are in its thread only afterwards."""

from collections.abc import Iterator, Mapping
from typing import Any

import structlog

from bot.slack.messages.impacts import THREAD_MARK
from bot.slack.web import Web
from bot.slack.web_errors import SlackFailure
from bot.store import Mailbox, OutboxMessage, State

log = structlog.get_logger(__name__)


class ThreadLinks:
    """Edits posted digests: the commits in their head are linked to GitHub until then."""

    def __init__(self, mailbox: Mailbox, web: Web) -> None:
        self._mailbox = mailbox
        self._web = web

    def add(self, prefix: str) -> None:
        """Link the digest whose messages have keys with this prefix, once they are sent. If Slack fails, it stays as it is."""
        root = self._mailbox.message(f"{prefix}000")
        if root is None or not root.ts or root.state is not State.SENT:
            return
        marked = [url for url in dict.fromkeys(_links(_blocks(root))) if url.endswith(THREAD_MARK)]
        if not marked:
            return
        sent: dict[str, str] = {}
        for each in self._mailbox.messages(prefix):
            for url in _subjects(each) if each.root == root.key and each.ts else ():
                sent.setdefault(url, each.ts or "")
        try:
            permalinks = {  # a list is linked from many lines, and asked for once
                ts: self._web.directory.permalink(root.channel, ts)
                for ts in {sent.get(url.removesuffix(THREAD_MARK), "") for url in marked} - {""}
            }
            links = {
                url: link for url in marked if (link := permalinks.get(sent.get(url.removesuffix(THREAD_MARK), "")))
            }
            if links:
                content = {**root.content, "blocks": _relinked(_blocks(root), links), "about": root.about}
                self._web.update(root.channel, root.ts, content, root.key)
        except SlackFailure as exc:
            log.warning("not linked", key=root.key, why=str(exc))


def _blocks(message: OutboxMessage) -> list[dict[str, Any]]:
    return list(message.content.get("blocks") or ())


def _subjects(message: OutboxMessage) -> Iterator[str]:
    """Yield the addresses of the commits that a message tells of: its first link, and those of its list items."""
    blocks = _blocks(message)
    yield next(_links(blocks[:1]), "")
    for block in blocks:
        for part in block.get("elements") or () if block["type"] == "rich_text" else ():
            if part["type"] == "rich_text_list":
                yield from _links(part)


def _links(value: object) -> Iterator[str]:
    """Yield the addresses of the links in blocks, in order."""
    if isinstance(value, Mapping):
        if value.get("type") == "link":
            yield str(value["url"])
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _links(each)


def _relinked(value: Any, links: Mapping[str, str]) -> Any:
    """Return blocks with other addresses."""
    if isinstance(value, Mapping):
        changed = {name: _relinked(each, links) for name, each in value.items()}
        return changed | {"url": links.get(value["url"], value["url"])} if value.get("type") == "link" else changed
    return [_relinked(each, links) for each in value] if isinstance(value, list | tuple) else value
