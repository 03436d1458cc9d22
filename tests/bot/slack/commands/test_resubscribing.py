"""Subscriptions that are asked for again, in other words, and what becomes of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.bot.slack.commands.test_subscriptions import filled, held, said
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as server:
        yield server
        assert [(call.method, call.params, call.response) for call in server.refusals] == []


@pytest.fixture
def talk(slack: LoopbackSlack, tmp_path: Path) -> Iterator[Talk]:
    with (
        FaultyGitHub({name: RecordedRepository([recorded(1), recorded(2)]) for name in ("o/n", "Big/Name")}) as github,
        Talk(slack, github.url, tmp_path, digest_repos="o/n") as bot,
    ):
        yield bot


def test_what_is_not_said_again_stays(talk: Talk, tmp_path: Path) -> None:
    """Subscribing again changes what is said and keeps the rest, and the reply tells what changed."""
    said(talk, "subscribe at 07:00 tz Asia/Shanghai lang en min medium")
    told = said(talk, "subscribe at 08:00")
    assert "Changed: time 07:00 → 08:00" in told
    (kept,) = held(tmp_path)
    assert (f"{kept.terms.time:%H:%M}", kept.terms.tz.key, kept.terms.least.value) == (
        "08:00",
        "Asia/Shanghai",
        "medium",
    )
    assert "Already subscribed with these settings" in said(talk, "subscribe")


def test_a_repository_is_kept_as_github_writes_it(talk: Talk, tmp_path: Path) -> None:
    """However a repository is typed, it is subscribed under its own name."""
    said(talk, "subscribe big/NAME at 08:00")
    said(talk, "subscribe O/N@main")
    assert {str(each.terms.repository) for each in held(tmp_path)} == {"Big/Name", "o/n@main"}
    assert "Commits: 2" in said(talk, "n 2026-02-05")


def test_a_form_refuses_a_branch_that_is_not_there_and_a_second_of_a_kind(talk: Talk, tmp_path: Path) -> None:
    """Whoever submits a form is told privately of a missing branch, and of another subscription's likeness."""
    said(talk, "subscribe")
    shown = talk.type(ADA, "subscriptions")
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription", str(held(tmp_path)[0].id))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    said(talk, "subscribe paths csrc/")
    talk.finish(talk.slack.submit(ADA, view.id, filled(repository="o/n@absent")))
    assert "no branch o/n@absent" in whole(talk.slack.private(ADA, DIGEST)[-1])
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription", str(held(tmp_path)[0].id))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    talk.finish(talk.slack.submit(ADA, view.id, filled(paths="csrc/")))
    assert "with these paths" in whole(talk.slack.private(ADA, DIGEST)[-1])
