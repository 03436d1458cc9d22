"""The local workspace for the tests: a Slack with the sample's channels, and with the real bot in it or without."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

from bot.local.workspace import CHANNELS, bot_in, sample_slack, workspace_page
from bot.settings import Settings
from loopback.github import LoopbackGitHub
from loopback.page import Page
from loopback.sample import sample_repositories
from loopback.slack import LoopbackSlack, Message
from tests.servers.clock import noon_clock


def settings(**more: Any) -> Settings:
    """Settings of nobody's environment; the real GitHub is out of reach."""
    return Settings(_env_file=None, github_api_url="http://127.0.0.1:9", **more)


@contextmanager
def quiet_workspace(**more: Any) -> Iterator[tuple[LoopbackSlack, Page]]:
    """The page and its Slack, where no bot listens, on a day of the past."""
    with sample_slack(noon_clock()) as slack, workspace_page(slack, settings(**more)) as page:
        yield slack, page


@contextmanager
def bot_at_work(slack: LoopbackSlack, folder: Path, **more: Any) -> Iterator[None]:
    """The bot, connected, until the block ends; its store in `folder` outlives it. It goes by the time of `slack`.

    It lives in a thread of its own: the browser's driver keeps an event loop in this one, which the engine does not suffer.
    """
    ended, failures = Event(), list[Exception]()

    def live() -> None:
        try:
            with (
                LoopbackGitHub(sample_repositories(), folder=folder) as github,
                bot_in(slack, github.url, folder, settings(**more), lambda: _time_of(slack)),
            ):
                ended.wait()
        except Exception as exc:  # noqa: BLE001 (it is raised where the test is)
            failures.append(exc)

    thread = Thread(target=live)
    thread.start()
    try:
        slack.wait_for(lambda: slack.connected or failures)
        if not failures:
            yield
    finally:
        ended.set()
        thread.join()
        if failures:
            raise failures[0]


def _time_of(slack: LoopbackSlack) -> datetime:
    return datetime.fromtimestamp(slack.workspace.now(), UTC)


def digest_in(slack: LoopbackSlack, language: str) -> Message:
    """The sample's digest in the channel of that language, when its thread is whole."""
    channel = CHANNELS["zh" if language == "zh" else "en"]

    def whole() -> Message | None:
        found = slack.channel(channel)
        return found[0] if found and any(each.files for each in slack.thread(channel, found[0].ts)) else None

    return slack.wait_for(whole)
