"""What people ask to be told once, through Slack: set, listed, cancelled and told."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Released, ReleaseState, Repository
from bot.slack.messages.commit import commit_messages
from loopback.github import RecordedRepository
from loopback.slack import Fault as SlackFault
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.factories import NOON, commit
from tests.factories import entry as analysed
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import buttons, press, stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk

EVE, OPS = "U0EVE", "C0OPS"
MERGED, REVERTED = recorded(9, parents=["03" * 20]), recorded(2)
WEB = "https://github.example/o/n"
HOURLY = SettableClock(datetime(2026, 2, 6, 9, tzinfo=UTC), 600)  # a minute passes in a tenth of a second


def revert(of: dict[str, Any], number: int) -> dict[str, Any]:
    """A commit that undoes another."""
    [file] = of["files"]
    patch = "\n".join(file["patch"].translate(str.maketrans("+-", "-+")).split("\n")[::-1][:2])
    undone = {**file, "patch": f"@@ -1,2 +1,2 @@\n{patch}"}
    return recorded(number, files=[undone], message=f'Revert "part" (#{number})\n\nThis reverts commit {of["sha"]}.')


class Desk(NamedTuple):
    """A bot, and the GitHub on which pull requests are opened, merged and closed."""

    talk: Talk
    github: FaultyGitHub

    def pull(self, number: int, **changes: Any) -> None:
        """Has a pull request be open, or as the changes say; without this it is merged, if its commit is there."""
        self.merge(number)
        body = {"number": number, "title": "Widen the door", "html_url": f"{WEB}/pull/{number}", "state": "open"}
        self.github.faults.append(Fault(rf"/pulls/{number}$", 200, 10_000, body={**body, "merged": False, **changes}))

    def merge(self, number: int) -> None:
        self.github.faults[:] = [each for each in self.github.faults if each.match != rf"/pulls/{number}$"]

    def told(self, user: str = ADA) -> list[str]:
        """What the bot said in somebody's direct messages by itself."""
        said = self.talk.slack.workspace.visible(self.talk.direct(user))
        return [each.text for each in said if each.metadata and "alert:" in each.metadata["event_payload"]["key"]]

    def waits_for(self, text: str, user: str = ADA) -> None:
        self.talk.slack.wait_for(lambda: text in "".join(self.told(user)), 60)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    repository = RecordedRepository([recorded(1), REVERTED, revert(REVERTED, 3), MERGED])
    settings: dict[str, Any] = {"digest_repos": "o/n,o/secret", "digest_private": f"o/secret={OPS}", "now": HOURLY}
    with (
        faultless(LoopbackSlack(pace=False)) as slack,
        FaultyGitHub({"o/n": repository, "o/secret": RecordedRepository([recorded(71)])}) as github,
    ):
        slack.workspace.add_user("eve", EVE, team="T0OTHER")
        slack.workspace.channels[DIGEST].members.add(EVE)
        slack.workspace.add_channel("ops", OPS, members=[ADA, "U0BOT"])
        with Talk(slack, github.url, tmp_path_factory.mktemp("bot"), **settings) as talk:
            yield Desk(talk, github)
            talk.settle()


def test_a_merge_is_told_once(desk: Desk) -> None:
    """An open pull request is waited for; its merge is told in direct messages to each who asked, and then it is over."""
    desk.pull(9)
    for user in (ADA, LIN):
        shown = whole(desk.talk.type(user, "tell me when #9 is merged"))
        assert "I'll send you a direct message when it is merged: Widen the door (#9) (o/n)" in shown
    assert "Widen the door (#9)" in whole(desk.talk.type(ADA, "tell me"))
    desk.merge(9)
    for user in (ADA, LIN):
        desk.waits_for("is merged as 0909090", user)
        assert len(desk.told(user)) == 1
    desk.talk.slack.wait_for(lambda: not stored(desk.talk.folder, "select 1 from alerts where ended_at is null"))
    assert "You asked for no alert" in whole(desk.talk.type(ADA, "n tell me"))


def test_what_came_to_pass_is_answered_at_once(desk: Desk) -> None:
    """What is merged, reverted or closed already is said in reply, and nothing is kept."""
    desk.talk.type(ADA, "#3")
    desk.pull(7, state="closed")
    for text, answer in (
        ("n tell me when #1 is merged", "Change part 1 (#1) (o/n) is merged as 0101010"),
        (f"tell me when n {REVERTED['sha'][:12]} is reverted", "was reverted on 2026-02-05 by"),
        ("o/n #7 合并时告诉我", "Widen the door (#7) (o/n) was closed without a merge"),
    ):
        assert answer in whole(desk.talk.type(ADA, text))
    assert "You asked for no alert" in whole(desk.talk.reply(ADA, f"{BOT} tell me"))


@pytest.mark.parametrize(("tag", "offered"), [(None, "tell_released"), ("v1.0", "tell_reverted")])
def test_a_menu_offers_what_may_come_next(tag: str | None, offered: str) -> None:
    """A release or, once there is one, a revert: Slack takes five options in a menu."""
    released = Released(state=ReleaseState.RELEASED, tag=tag, date=NOON) if tag else Released()
    entry = analysed(commit("Do it")).model_copy(update={"released": released})
    (shown,) = commit_messages(Repository.parse("o/n"), entry, "en", ZoneInfo("UTC"), public=False)
    menus = [
        each for block in shown.blocks if block["type"] == "actions" for each in block["elements"] if "options" in each
    ]
    assert [len(each["options"]) for each in menus] == [5]
    assert [name for name in ("tell_released", "tell_reverted") if name in str(menus)] == [offered]


def test_an_alert_waits_for_a_revert(desk: Desk) -> None:
    """A command sets an alert, which is told when a commit that undoes it is stored; the menu sets one for the release."""
    slack, talk = desk.talk.slack, desk.talk
    shown = talk.type(ADA, "n #1")
    assert "tell_released" in buttons(shown)
    talk.type(ADA, "tell me when n #1 is reverted")
    talk.finish(press(slack, ADA, DIGEST, shown.ts, "tell_released"))
    assert "I know no release tags" in whole(slack.private(ADA, DIGEST)[-1])
    desk.github.push(
        "o/n", recorded(1), REVERTED, revert(REVERTED, 3), revert(recorded(1), 4), {**MERGED, "parents": ["04" * 20]}
    )
    talk.type(LIN, "n #4")
    desk.waits_for("Change part 1 (#1) was reverted on 2026-02-05 by")
    slack.open_home(ADA)
    home = slack.wait_for(partial(slack.home, ADA))
    assert "when it is released" in str(home.body)
    [(number,)] = stored(talk.folder, "select id from alerts where event = 'released' and ended_at is null")
    forged = talk.type(LIN, "n #1")
    forged.blocks[-1]["elements"][0] |= {"action_id": "cancel_alert", "value": str(number)}
    talk.finish(slack.press(LIN, DIGEST, forged.ts, "cancel_alert"))
    assert stored(talk.folder, "select 1 from alerts where id = :id and ended_at is null", id=number)
    talk.finish(slack.press_view(ADA, home.id, "cancel_alert", str(number)))
    assert stored(talk.folder, "select 1 from alerts where ended_at is null") == []
    assert "Cancelled: " in str(slack.wait_for(partial(slack.home, ADA)).body)


def test_what_is_not_there_has_the_error_of_a_commit(desk: Desk) -> None:
    """A pull request or a commit that does not exist gets the line that `commit` gives."""
    for name in ("#404", "abcdef12", f"{WEB}/pull/404", "o/absent #1"):
        words = name.replace(" ", " tell me when ", 1) if " " in name else f"tell me when {name}"
        assert whole(desk.talk.type(ADA, f"{words} is merged")) == whole(desk.talk.type(ADA, name))


def test_who_may_not_be_told_is_not(desk: Desk) -> None:
    """People of other organisations set no alert, and of a private repository nothing leaves its channels."""
    assert "guests from other organisations" in whole(desk.talk.type(EVE, "tell me when n #1 is reverted"))
    absent = whole(desk.talk.type(ADA, "tell me when o/absent #71 is reverted"))
    assert whole(desk.talk.type(ADA, "tell me when o/secret #71 is reverted")).replace("secret", "absent") == absent
    refused = whole(desk.talk.type(ADA, "tell me when o/secret #71 is reverted", OPS))
    assert "stay in its channels" in refused
    assert stored(desk.talk.folder, "select 1 from alerts where ended_at is null") == []
    # One whose repository became private after it was set is dropped.
    values = "'U0ADA', 'C0OPS', 'o/secret', 'merged', '#71', 'Vault', '', :at, :at"
    columns = '"user", channel, repository, event, subject, title, url, asked_at, checked_at'
    before = desk.told()
    stored(desk.talk.folder, f"insert into alerts ({columns}) values ({values})", at="2026-02-06 09:00:00.000000")
    assert "Vault" not in whole(desk.talk.type(ADA, "tell me"))
    over = "select message from alerts where title = 'Vault' and ended_at is not null and message is not null"
    desk.talk.slack.wait_for(lambda: stored(desk.talk.folder, over), 60)
    assert desk.told() == before


def test_an_outage_of_slack_and_a_restart_lose_nothing(desk: Desk) -> None:
    """What was found while Slack did not answer is told once, by the next process as well."""
    slack, talk = desk.talk.slack, desk.talk
    desk.pull(9)
    talk.type(ADA, "n tell me when #9 is merged")
    before = len(desk.told())
    slack.faults.append(SlackFault("chat.postMessage$", "status", 3))
    desk.merge(9)
    slack.wait_for(lambda: stored(talk.folder, "select 1 from alerts where message is not null and ended_at is null"))
    talk.stop()
    talk.start()
    slack.wait_for(lambda: len(desk.told()) > before, 60)
    slack.wait_for(lambda: not stored(talk.folder, "select 1 from alerts where ended_at is null"), 60)
    assert len(desk.told()) == before + 1
    slack.refusals.clear()
