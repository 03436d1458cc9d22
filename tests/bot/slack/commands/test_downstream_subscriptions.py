"""Downstream repositories of a subscription, as people name, change and see them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.bot.slack.commands.test_subscriptions import held
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk

MORNING = datetime(2026, 2, 6, tzinfo=UTC)
SECRET = "o/secret"
ABSENT = "has no repository {}, or this bot has no access to it"
Told = Callable[..., str]


@pytest.fixture(scope="module")
def slack() -> Iterator[LoopbackSlack]:
    with faultless(LoopbackSlack(pace=False)) as server:
        server.workspace.add_channel("ops", "C0OPS", members=[ADA, "U0BOT"])
        yield server


@pytest.fixture(scope="module")
def talk(slack: LoopbackSlack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    commits = [recorded(1)]
    repositories = {
        "o/n": RecordedRepository(commits),
        "o/Plug": RecordedRepository(commits, {"main": commits[0]["sha"], "dev": commits[0]["sha"]}),
        "o/m": RecordedRepository(commits),
        SECRET: RecordedRepository(commits),
    }
    with (
        FaultyGitHub(repositories) as github,
        Talk(
            slack,
            github.url,
            tmp_path_factory.mktemp("bot"),
            now=SettableClock(MORNING, speed=20),
            digest_private=f"{SECRET}=C0OPS",
        ) as bot,
    ):
        yield bot


@pytest.fixture
def said(talk: Talk) -> Told:
    return lambda text, channel=DIGEST: whole(talk.type(ADA, text, channel))


def downstream(folder: Path) -> list[tuple[str, ...]]:
    """What each subscription names."""
    return [tuple(map(str, each.terms.downstream)) for each in held(folder)]


def announced(slack: LoopbackSlack, channel: str = DIGEST) -> str:
    return "\n".join(whole(each) for each in slack.channel(channel))


def test_downstream_repositories_are_named_and_changed(talk: Talk, said: Told) -> None:
    """They are kept under GitHub's spelling, each once, shown wherever the subscription is, kept by a change of something
    else, and end with `none`.
    """
    said("subscribe downstream o/plug@dev, O/PLUG@dev o/m")
    assert downstream(talk.folder) == [("o/Plug@dev", "o/m")]
    assert "subscribed this channel to o/n (🔌 Downstream: o/Plug@dev, o/m)" in announced(talk.slack)
    for command in ("subscriptions", "status"):
        assert "🔌 Downstream: o/Plug@dev, o/m" in said(command)
    assert "Changed: time 09:00 → 10:00" in said("subscribe at 10:00")
    assert "downstream o/Plug@dev, o/m → o/m" in said("subscribe downstream o/m")
    assert "downstream o/m → none" in said("subscribe downstream none")
    assert downstream(talk.folder) == [()]
    said("unsubscribe")


REFUSED = (
    ("plug", "'plug' is not a repository; use owner/name or owner/name@branch"),
    ("o/absent", ABSENT.format("o/absent")),
    (SECRET, ABSENT.format(SECRET)),
    ("o/m@absent", "GitHub has no branch o/m@absent"),
    ("o/m, O/N@dev", "o/n is the upstream repository; name the one that depends on it"),
    ("a/a, b/b, c/c, d/d", "4 downstream repositories are too many; use at most 3"),
    ("", "'downstream' needs a value; for example: downstream owner/plug-in"),
)


def test_what_is_no_downstream_repository_is_said_in_a_line(talk: Talk, said: Told) -> None:
    """A name that cannot be taken is refused with its reason, one that is private elsewhere as one that does not exist."""
    for named, told in REFUSED:
        shown = said(f"subscribe downstream {named}")
        assert told in shown, named
        assert len({line for line in shown.splitlines() if line}) == 1
    assert downstream(talk.folder) == []


def filled(**changes: str) -> dict[str, dict[str, Any]]:
    terms = {"repository": "o/n", "at": "10:30", "timezone": "UTC", "language": "en", "least": "low"}
    values = {"channel": "C0OPS", **terms, "paths": "", "watch": "", "downstream": ""} | changes
    return {name: {name: value} for name, value in values.items() if value}


def test_a_private_downstream_repository_is_shown_in_its_channel_only(talk: Talk, said: Told) -> None:
    """Where DIGEST_PRIVATE lists it, it is named; Home does not show it and keeps it; a move to another channel is refused
    as for one that does not exist.
    """
    said(f"subscribe downstream {SECRET}, o/m", "C0OPS")
    assert SECRET in announced(talk.slack, "C0OPS")
    assert SECRET in said("subscriptions", "C0OPS") + said("status", "C0OPS")
    talk.finish(talk.slack.open_home(ADA))
    home = talk.slack.wait_for(lambda: talk.slack.home(ADA))
    assert "o/m" in str(home.body)
    assert "secret" not in str(home.body)
    [number] = [each.id for each in held(talk.folder)]
    talk.slack.press_view(ADA, home.id, "edit_subscription", str(number))
    form = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    assert "secret" not in str(form.body)
    talk.finish(talk.slack.submit(ADA, form.id, filled(downstream="o/Plug")))
    assert downstream(talk.folder) == [("o/Plug", SECRET)]
    said("subscriptions", "C0OPS")
    talk.slack.press(ADA, "C0OPS", talk.slack.private(ADA, "C0OPS")[-1].ts, "edit_subscription")
    form = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    assert SECRET in str(form.body)
    talk.finish(talk.slack.submit(ADA, form.id, filled(channel=DIGEST, downstream=SECRET)))
    assert "GitHub " + ABSENT.format(SECRET) in whole(talk.slack.private(ADA, DIGEST)[-1])
    assert "secret" not in announced(talk.slack)
