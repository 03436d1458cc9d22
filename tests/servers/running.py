"""The bot at work in this process, against loopback servers: the real app, flows and clock, only the time is passed in."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool

from bot.bootstrap import Start, running_bot
from bot.settings import Settings
from bot.slack.outbox import AT_ONCE, SLACKS_PACE
from loopback.slack import Interaction, LoopbackSlack, Message
from tests.servers.clock import noon_clock
from tests.servers.databases import DATABASES, empty_database
from tests.servers.postgresql import postgresql_database_of

_TICK = timedelta(seconds=0.5)  # between checks for due digests, so that nobody waits for the next


@contextmanager
def bot_running(
    slack: LoopbackSlack,
    github_url: str,
    folder: Path,
    *,
    now: Callable[[], datetime] | None = None,
    **settings: Any,
) -> Iterator[None]:
    """The bot, connected, until the block ends; its store is `bot_database(folder)`, unless it has a `database_url`, and outlives it.

    It goes by `now`, by default from noon on; with `http` it is behind an address instead; `metrics_port` is that of its figures.
    """
    chosen = {"database_url": bot_database(folder), **settings}
    engine = folder / "bot-flows.db"
    if chosen["database_url"] == f"sqlite:///{folder / 'bot.db'}" and not engine.exists():
        engine.write_bytes(used_engine())
    with _started(slack, github_url, now or noon_clock(), **chosen):
        yield


def bot_database(folder: Path) -> str:
    """Return the URL of the store of the bot in a folder, migrated before its first use: a file there, or a database of a server."""
    if DATABASES == "postgresql":
        return postgresql_database_of(folder, _run_once)
    return empty_database(folder / "bot.db")


def stored(folder: Path, query: str, **values: Any) -> list[tuple[Any, ...]]:
    """Execute a statement in the store of the bot in a folder, and return the rows that it gives; `:name` stands for a value."""
    with _reader(bot_database(folder)).connect() as connection:
        found = connection.execute(text(query), values)
        return [tuple(row) for row in found] if found.returns_rows else []


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Keep the store of the bot in a folder locked by another program for the duration of the block."""
    lock = "BEGIN IMMEDIATE" if DATABASES == "sqlite" else "BEGIN; LOCK TABLE inbox, outbox"
    with _reader(bot_database(folder)).connect() as other:
        other.exec_driver_sql(lock)
        yield
        other.exec_driver_sql("ROLLBACK")


@lru_cache(maxsize=4)
def _reader(database_url: str) -> Engine:
    return create_engine(database_url, poolclass=NullPool, isolation_level="AUTOCOMMIT")


@cache
def used_engine() -> bytes:
    """The engine's database of a bot that ran before: of a new one it looks for the queues a second late."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _run_once(empty_database(folder / "bot.db"))
        return (folder / "bot-flows.db").read_bytes()


def _run_once(database_url: str) -> None:
    with LoopbackSlack() as slack, _started(slack, "http://127.0.0.1:9", noon_clock(), database_url=database_url):
        pass


@contextmanager
def _started(slack: LoopbackSlack, github_url: str, now: Callable[[], datetime], **settings: Any) -> Iterator[None]:
    address = ("127.0.0.1", free_port()) if settings.pop("http", False) else None
    metrics_port = settings.pop("metrics_port", 0)
    chosen = {
        "slack_bot_token": slack.bot_token,
        "slack_app_token": slack.app_token,
        "slack_signing_secret": slack.signing_secret,
        "slack_api_url": slack.url,
        "github_api_url": github_url,
        "github_token": "token",
        "digest_mirrors": None,
        "digest_repos": "o/n",
        "digest_timezone": "UTC",
        "digest_language": "en",
        "log_level": "error",
        **settings,
    }
    pace = SLACKS_PACE if slack.pace else AT_ONCE  # which it would keep by the real time, whatever the clock
    start = Start(address, metrics_port=metrics_port, tick=_TICK, releases=_TICK, pace=pace)
    with running_bot(Settings(_env_file=None, **chosen), now, start):
        slack.delivery.deliver_to = f"http://127.0.0.1:{address[1]}/slack/events" if address else None
        slack.wait_for(lambda: address or slack.connected)
        yield


def free_port() -> int:
    """A port that nobody listens at."""
    with closing(socket.create_server(("127.0.0.1", 0))) as place:
        return int(place.getsockname()[1])


def posted(slack: LoopbackSlack, channel: str) -> list[Message]:
    """What the bot posted in a channel, but for the lines that say who changed what it gets."""
    said = [(each, (each.metadata or {}).get("event_payload", {}).get("key", "")) for each in slack.channel(channel)]
    return [each for each, key in said if not key.startswith("change:")]


def buttons(message: Message) -> list[str]:
    """The actions of a message's buttons, and of the options of its menus."""
    return [
        action
        for block in message.blocks or ()
        if block["type"] == "actions"
        for element in block["elements"]
        for action in _actions(element)
    ]


def press(slack: LoopbackSlack, user: str, channel: str, ts: str, action: str) -> Interaction:
    """Press a button of a message, or choose the option of a menu that does the same."""
    for block in slack.workspace.channels[channel].messages[ts].blocks:
        for element in block.get("elements") or ():
            for option in element.get("options") or () if element["type"] == "overflow" else ():
                if option["value"].startswith(f"{action}|"):
                    return slack.press(user, channel, ts, element["action_id"], option["value"])
    return slack.press(user, channel, ts, action)


def _actions(element: dict[str, Any]) -> list[str]:
    if element["type"] == "overflow":
        return [option["value"].partition("|")[0] for option in element["options"]]
    return [element["action_id"]]


def whole(message: Message) -> str:
    """Everything that a message says, its blocks included."""
    found: list[str] = [message.text]

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                if key in ("text", "markdown_text") and isinstance(each, str):
                    found.append(each)
                else:
                    walk(each)
        elif isinstance(value, list | tuple):
            for each in value:
                walk(each)

    walk(list(message.blocks or ()))
    return "\n".join(found)
