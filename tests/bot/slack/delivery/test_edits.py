"""Edits of digests' first messages: each once, also after Slack's silence, and none that Slack refused before."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from analysis.facts import facts
from analysis.models import Commit, FileChange, Repository
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef, value_of
from bot.services.breaks import BreakLives
from bot.services.factory import Services
from bot.services.reader import Access, Reader
from bot.slack.delivery.edits import DigestEdits
from bot.slack.messages.blocks import bullets, linked, listed, ours, prose, rich
from bot.slack.messages.impacts import THREAD_MARK
from bot.slack.messages.marks import Edits, marked_urls
from bot.slack.outbox import AT_ONCE, Outbox
from bot.slack.web import Web
from bot.store import BreakState, DownstreamBreak, Draft, Mailbox, Store, Subscriptions, Terms, open_engine
from loopback.slack import Fault, LoopbackSlack, Message
from tests.factories import NOON, REPOSITORY, commit, file
from tests.servers.running import bot_database, whole

CHANNEL, KEY = "C0DIGEST", f"digest:{REPOSITORY.key}:2026-02-05:s1:C0DIGEST:000"
PLUG = Repository.parse("acme/plug")
BROKEN, HARMLESS, REVERT, FIX = "a1" * 20, "b2" * 20, "c3" * 20, "d4" * 20
ADAPTING = "https://github.com/acme/plug/commit/" + "e5" * 20
LATER = NOON + timedelta(days=1)


def changed(removed: str, added: str) -> FileChange:
    return file("engine/core.py", f"@@ -1,2 +1,2 @@\n-{removed}\n+{added}\n end")


class Place(NamedTuple):
    """A channel with a digest of two commits, of which one breaks the channel's code."""

    slack: LoopbackSlack
    store: Store
    mail: Mailbox
    edits: DigestEdits
    now: list[datetime]

    def save(self, *commits: Commit) -> None:
        for each in commits:
            self.store.save_commit(REPOSITORY, each, facts(each))

    def refresh(self) -> str:
        """Bring the digest up to date, and return what is in Slack."""
        self.edits.refresh([REPOSITORY])
        return self.said

    @property
    def message(self) -> Message:
        [found] = self.slack.channel(CHANNEL)
        return found

    @property
    def said(self) -> str:
        return whole(self.message).replace("\n", "")

    @property
    def updates(self) -> int:
        return len(self.slack.asked("chat.update"))

    def change(self, **values: object) -> None:
        self.store.breaks.change(self.store.breaks.found(), **values)


def _digest(commits: Sequence[Commit]) -> Draft:
    broken, harmless = commits
    rows = [[*prose("`stop` is gone"), *ours(" · "), *linked("#1", f"{broken.url}{THREAD_MARK}")]]
    blocks = [
        listed([*ours("💥 Breaks your code", "bold"), *ours(" (acme/plug)")], rows),
        rich(bullets([[*prose("A new flag"), *ours(" · "), *linked("#2", harmless.url)]])),
    ]
    ref = DayRef(REPOSITORY, date(2026, 2, 5), "UTC", "en", 1)
    return Draft(KEY, CHANNEL, {"text": "o", "blocks": blocks}, about=value_of(ref))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    now, engine = [LATER], open_engine(bot_database(tmp_path))
    with LoopbackSlack(pace=False) as slack:
        store, mail, subscriptions = Store(engine), Mailbox(engine), Subscriptions(engine)
        web = Web(slack.bot_token, slack.url, retries=0)
        services = Services(GitHub("http://127.0.0.1:9", None), store)
        access = Access({}, lambda _: True, lambda: now[0])
        reader = Reader(services.digests, services.commits, lambda: [REPOSITORY], access)
        subscriptions.keep(Terms(CHANNEL, REPOSITORY, time(9), ZoneInfo("UTC"), "en", downstream=(PLUG,)), NOON)
        lives = BreakLives(store, subscriptions, services.impacts, lambda: now[0])
        edits = DigestEdits(reader, services.sources, store, lives, mail, web, lambda: now[0])
        broken = commit("Remove stop (#1)", [changed("def stop(): ...", "x = 1")], sha=BROKEN)
        commits = broken, commit("Add a flag (#2)", [file("engine/flags.py", "@@ -0,0 +1 @@\n+FLAG = 1")], sha=HARMLESS)
        found = Place(slack, store, mail, edits, now)
        found.save(*commits)
        store.save_day(REPOSITORY, date(2026, 2, 5), "UTC", listed=commits, late=[], remarks=[], listed_at=NOON)
        store.breaks.keep(
            [DownstreamBreak(CHANNEL, REPOSITORY.key, BROKEN, str(PLUG), "e.stop", ("p.py",), "f" * 40)], NOON
        )
        mail.freeze([_digest(commits)])
        Outbox(mail, web, lambda: now[0], lambda _: None, AT_ONCE).send(KEY)
        yield found
        store.close()


def test_a_release_is_named() -> None:
    """A mark names the first release that has the commit, in either language."""
    content = {"text": "o", "blocks": [rich(bullets([linked("#1", "https://e.example/1")]))]}
    marked = Edits(marks={"https://e.example/1": [["released", "v0.16.0", ""]]})
    assert "'📦 in v0.16.0'" in str(marked.edited(content, "en"))
    assert "v0.16.0" in str(marked.edited(content, "zh"))


def reverting() -> Commit:
    body = f"This reverts commit {BROKEN}."
    return commit('Revert "Remove stop (#1)"', [changed("x = 1", "def stop(): ...")], body=body, sha=REVERT, at=LATER)


def fixing() -> Commit:
    return commit("Mend the flag (#9)", [changed("x = 1", "x = 2")], body="Fixes #2", sha=FIX, at=LATER)


def test_a_line_gains_what_became_of_its_commit(place: Place) -> None:
    """Reverts, fixes and lives of breaks are put at the end of the line, several in one update; a line without a break is not
    struck; the same is not sent again, and what a person takes back disappears.
    """
    before = place.refresh()
    assert place.updates == 0
    place.change(who="U0ADA", until=date(2026, 3, 1))
    place.save(fixing())
    said = place.refresh()
    assert place.updates == 1
    assert said == before.replace("#1", "#1 · 🙋  · ⏰ put off until 2026-03-01").replace("#2", "#2 · 🩹 fixed by #9")
    place.refresh()
    assert place.updates == 1
    place.change(who="", until=None)
    place.save(reverting())
    assert place.refresh() == before.replace("#1", f"#1 · ↩️ reverted by {REVERT[:7]}").replace(
        "#2", "#2 · 🩹 fixed by #9"
    )
    place.change(state=BreakState.ADAPTED, by_commit=ADAPTING)
    said = place.refresh()
    assert "💥 Breaks your code (acme/plug) · 1 of 1 adapted" in said
    assert "✅ adapted by e5e5e5e" in said
    assert ["'strike': True" in str(each) for each in place.message.blocks] == [True, False]
    [held] = place.store.breaks.found()
    place.store.breaks.keep([held._replace(name="e.start", by_commit=ADAPTING.replace("e5", "f6"))], NOON)
    assert "✅ adapted by f6f6f6f · ✅ adapted by e5e5e5e" in (said := place.refresh())
    place.now[0] += timedelta(days=20)
    place.change(state=BreakState.FOUND)
    assert place.refresh() == said  # of an old digest nothing is edited


@pytest.mark.parametrize(
    "code",
    ["edit_window_closed", "cant_update_message", "message_not_found", "channel_not_found", "msg_too_long"],
)
def test_what_slack_lets_nobody_edit_is_left(place: Place, code: str) -> None:
    """A refused edit is not tried again, whatever changes later."""
    place.slack.faults.append(Fault("chat.update$", "error", error=code))
    place.save(fixing())
    before = place.said
    assert place.refresh() == before
    place.save(reverting())
    assert place.refresh() == before
    assert place.updates == 1


@pytest.mark.parametrize("kind", ["drop", "accept_and_drop"])
def test_an_edit_that_was_cut_short_is_made_again(place: Place, kind: str) -> None:
    """Slack's silence, or a kill before the store knows of the edit, leads to the same message."""
    place.slack.faults.append(Fault("chat.update$", kind))  # type: ignore[arg-type]
    place.save(fixing())
    place.refresh()
    edited = place.refresh()
    assert edited.count("fixed by") == 1
    assert place.updates == 2
    place.edits.refresh([REPOSITORY], "C0OTHER")
    assert place.refresh() == edited
    assert place.updates == 2


def test_the_thread_is_linked_beside_what_was_edited(place: Place) -> None:
    """Links to the thread stay when a line is edited, and edits when a delivery that was interrupted links again."""
    place.save(reverting())
    place.refresh()
    for _ in range(2):
        message = place.mail.message(KEY)
        assert message
        place.edits.link(message, dict.fromkeys(marked_urls(message.content["blocks"]), "https://s.example/p1"))
        assert "https://s.example/p1" in str(place.message.blocks)
        assert "reverted by" in place.said
    place.change(who="U0ADA")
    place.refresh()
    assert "https://s.example/p1" in str(place.message.blocks)
    assert THREAD_MARK not in str(place.message.blocks)
