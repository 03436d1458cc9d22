"""Subscriptions, as people of several channels ask for them, change them and end them; and what is theirs alone to see."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Importance, Repository
from analysis.models.release_scores import ReleaseScore, TierCount
from bot.store import Store, Subscription, Subscriptions, Terms, open_engine
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import bot_database, buttons, posted, press, whole
from tests.servers.talk import ADA, DIGEST, LIN, Talk

MORNING = datetime(2026, 2, 6, 7, tzinfo=UTC)
SECRET = "o/secret"
HIGH, MEDIUM, LOW = Importance


@pytest.fixture(scope="module")
def slack() -> Iterator[LoopbackSlack]:
    with faultless(LoopbackSlack(pace=False)) as server:
        for channel in ("C0TEAM", "C0OPS"):
            server.workspace.add_channel(channel.lower(), channel, members=[ADA, "U0BOT"])
        yield server


@pytest.fixture(scope="module")
def github() -> Iterator[FaultyGitHub]:
    names = ("o/n", "o/m", "Big/Name", SECRET)
    with FaultyGitHub({name: RecordedRepository([recorded(1), recorded(2)]) for name in names}) as server:
        yield server


@pytest.fixture(scope="module")
def clock() -> SettableClock:
    """It hurries, so that nobody waits for the bot's pace or for the minute in which one may ask twenty times."""
    return SettableClock(datetime(2026, 2, 6, tzinfo=UTC), speed=60)


@pytest.fixture(scope="module")
def bot(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Talk]:
    folder = tmp_path_factory.mktemp("bot")
    with Talk(slack, github.url, folder, now=clock, digest_repos="o/n", digest_private=f"{SECRET}=C0OPS") as running:
        yield running


@pytest.fixture
def talk(bot: Talk) -> Iterator[Talk]:
    """The bot, with whose channels nobody has subscribed to anything yet, and no form open."""
    yield bot
    bot.settle()
    engine = open_engine(bot_database(bot.folder))
    for each in Subscriptions(engine).all():
        Subscriptions(engine).end(each.id, MORNING)
    engine.dispose()
    while modal := bot.slack.modal(ADA):
        bot.slack.close(ADA, modal.id)


def held(folder: Path) -> list[Subscription]:
    engine = open_engine(bot_database(folder))
    found = Subscriptions(engine).all()
    engine.dispose()
    return found


def said(talk: Talk, text: str, user: str = ADA, channel: str = DIGEST) -> str:
    return whole(talk.type(user, text, channel))


SUBSCRIBED: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("subscribe", ("o/n", "09:00", "UTC", "en", "low", (), (), ())),
    (
        "o/m subscribe at 7:30 tz Asia/Shanghai lang zh min high paths pkg/, *.cu watch pkg, LLM.generate downstream o/n",
        ("o/m", "07:30", "Asia/Shanghai", "zh", "high", ("pkg/", "*.cu"), ("pkg", "LLM.generate"), ("o/n",)),
    ),
)


def test_a_channel_is_subscribed_by_a_command(talk: Talk) -> None:
    """Every part of the command is kept, what is left out is as usual, and the reply says when the first digest comes."""
    for text, expected in SUBSCRIBED:
        assert "First digest: 2026-02-0" in said(talk, text), text
        (kept,) = held(talk.folder)
        terms = kept.terms
        found = (str(terms.repository), f"{terms.time:%H:%M}", terms.tz.key, terms.language, terms.least.value)
        also = (terms.paths, terms.watch, tuple(map(str, terms.downstream)))
        assert (*found, *also) == expected, text
        assert (terms.channel, kept.user) == (DIGEST, ADA)
        said(talk, "unsubscribe")


NOT_SUBSCRIBED = (
    ("subscribe at 25:00", "not a valid time; use HH:MM"),
    ("subscribe watch x", "'x' is too short to watch"),
    ("subscribe o/absent", "has no repository o/absent"),
    ("subscribe o/m@absent", "GitHub has no branch o/m@absent"),
    ("subscribe o/secret", "has no repository o/secret"),
)


def test_what_cannot_be_subscribed_is_said(talk: Talk) -> None:
    """A subscription that cannot be is refused with the reason, and nothing is kept."""
    for text, told in NOT_SUBSCRIBED:
        assert told in said(talk, text), text
    assert held(talk.folder) == []


def test_subscribing_again_changes_what_there_was(talk: Talk) -> None:
    """The same repository with the same paths is one subscription, whatever it watches; with other paths it is another."""
    for text in ("subscribe at 08:00 watch LLM", "subscribe at 10:00 watch csrc", "subscribe paths csrc/"):
        said(talk, text)
    assert [(f"{each.terms.time:%H:%M}", each.terms.paths, each.terms.watch) for each in held(talk.folder)] == [
        ("10:00", (), ("csrc",)),
        ("09:00", ("csrc/",), ()),
    ]


def test_what_changed_is_named(talk: Talk) -> None:
    """A subscription that is asked for in other words says of each field that changed which it is."""
    said(talk, "subscribe")
    told = said(talk, "subscribe at 10:00 tz Asia/Shanghai min high watch LLM")
    assert (
        "Changed: time 09:00 → 10:00; time zone UTC → Asia/Shanghai; lowest importance All (🟢 and above) → Only 🔴 high; "
        "watch none → LLM"
    ) in told
    assert "✅ Subscription changed \no/n" in told
    assert "✅ Subscribed \no/n" in said(talk, "subscribe at 10:00")


def confirmations(blocks: Any) -> list[str]:
    """What the buttons among blocks ask before they act."""
    elements = [each for block in blocks if block["type"] == "actions" for each in block["elements"]]
    return [each["confirm"]["text"]["text"] for each in elements if "confirm" in each]


def test_a_button_asks_before_it_unsubscribes(talk: Talk) -> None:
    """In a list and at home the button opens Slack's dialog, which names what would end; a command needs none."""
    said(talk, "subscribe paths csrc/")
    asked = ["This channel will get no more digests of o/n (Filter: csrc/)."]
    assert confirmations(talk.type(ADA, "subscriptions").blocks) == asked
    home_of(talk, ADA)
    home = talk.slack.home(ADA)
    assert home
    assert confirmations(home.body["blocks"]) == asked
    assert "Unsubscribed: o/n" in said(talk, "unsubscribe")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_home_shows_at_once_what_was_subscribed_there(talk: Talk, language: str) -> None:
    """A form that was opened at home brings the subscription into the view, and an edit its new terms; private ones stay out."""
    home_of(talk, ADA)
    home = talk.slack.wait_for(lambda: talk.slack.home(ADA))
    talk.slack.press_view(ADA, home.id, "open_subscribe")
    form = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    talk.finish(talk.slack.submit(ADA, form.id, filled(channel="C0OPS", language=language, watch="ENGINE_LOG")))
    said(talk, "subscribe o/secret", channel="C0OPS")
    shown = talk.slack.wait_for(lambda: talk.slack.home(ADA))
    assert "ENGINE_LOG" in str(shown.body)
    talk.slack.press_view(ADA, shown.id, "edit_subscription")
    form = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    talk.finish(talk.slack.submit(ADA, form.id, filled(channel="C0OPS", language=language, watch="LLM.generate")))
    edited = str(talk.slack.wait_for(lambda: talk.slack.home(ADA)).body)
    assert "LLM.generate" in edited
    assert "ENGINE_LOG" not in edited
    assert "secret" not in edited
    assert "Subscriptions of your channels" in edited


def test_subscriptions_are_listed_and_ended(talk: Talk) -> None:
    """A channel's subscriptions are listed with their buttons; one of several is ended by its button, the last by a word."""
    for text in ("subscribe", "subscribe o/m watch ENGINE_LOG, pkg/"):
        said(talk, text)
    listed = talk.type(ADA, "subscriptions")
    assert "👁 Watches: ENGINE_LOG, pkg/" in whole(listed)
    assert "o/n" in whole(listed)
    assert "o/m" in whole(listed)
    asked = talk.type(ADA, "unsubscribe")
    assert "Which subscription" in whole(asked)
    talk.finish(talk.slack.press(ADA, DIGEST, asked.ts, "unsubscribe", str(held(talk.folder)[0].id)))
    assert [str(each.terms.repository) for each in held(talk.folder)] == ["o/m"]
    assert "Unsubscribed: o/m" in said(talk, "unsubscribe")
    assert held(talk.folder) == []


def test_the_status_tells_what_is_due(talk: Talk) -> None:
    """The status says what analyses and when the channel's next digest comes."""
    said(talk, "subscribe")
    told = said(talk, "status")
    assert "rules (no model configured)" in told
    assert "o/n: Next digest: 2026-02-06 (Fri) 09:00 UTC" in told
    assert "Subscriptions: 1" in told


def test_the_status_tells_how_right_the_ranks_were(talk: Talk) -> None:
    """Of the channel's own repositories, by the notes of the latest release; a hostile tag is text."""
    tiers = {HIGH: TierCount(commits=4, named=3), MEDIUM: TierCount(commits=9, named=2), LOW: TierCount(commits=7)}
    engine = open_engine(bot_database(talk.folder))
    for name, tag in (("n", "v2 <!channel>"), ("m", "v9")):
        repository = Repository(owner="o", name=name)
        score = ReleaseScore(repository=repository, release=tag, published_at=MORNING, commits=20, named=5, tiers=tiers)
        Store(engine).release_scores.save(score, MORNING)
    engine.dispose()
    said(talk, "subscribe")
    told = said(talk, "status")
    assert "o/n: The notes of v2 <!channel> name 3 of 4 commits ranked high; of 5 named commits 5 were" in told
    assert "v9" not in told


def filled(**changes: str) -> dict[str, dict[str, Any]]:
    values = {
        "channel": DIGEST,
        "repository": "o/n",
        "at": "10:30",
        "timezone": "UTC",
        "language": "en",
        "least": "medium",
        "paths": "",
        "watch": "",
        "downstream": "",
    } | changes
    return {name: {name: value} for name, value in values.items() if value}


def opened(talk: Talk, action: str = "open_subscribe", user: str = ADA) -> Any:
    shown = talk.type(user, "subscriptions")
    talk.slack.press(user, DIGEST, shown.ts, action)
    return talk.slack.wait_for(lambda: talk.slack.modal(user))


def test_a_subscription_is_filled_into_a_modal(talk: Talk) -> None:
    """The modal's fields become the subscription, and its editing changes that one."""
    view = opened(talk)
    assert talk.slack.submit(ADA, view.id, filled()).errors in (None, {})
    talk.slack.wait_for(lambda: held(talk.folder))
    talk.settle()
    view = opened(talk, "edit_subscription")
    talk.slack.submit(ADA, view.id, filled(paths="csrc/", watch="LLM.generate, --enforce-eager"))
    talk.slack.wait_for(lambda: held(talk.folder) and held(talk.folder)[0].terms.paths)
    talk.settle()
    (kept,) = held(talk.folder)
    assert (f"{kept.terms.time:%H:%M}", kept.terms.least.value, kept.terms.paths) == ("10:30", "medium", ("csrc/",))
    assert kept.terms.watch == ("LLM.generate", "--enforce-eager")
    view = opened(talk, "edit_subscription")
    assert "LLM.generate, --enforce-eager" in str(view.body)


WRONG_FIELDS = (
    ("repository", "no repository"),
    ("timezone", "Mars"),
    ("paths", "!x"),
    ("watch", "LLM, x"),
    ("downstream", "no repository"),
    ("channel", "C0QUIET"),
)


def test_what_is_wrong_in_the_modal_is_said_at_its_field(talk: Talk) -> None:
    """A field that cannot be taken gets its error at once, and nothing is kept."""
    view = opened(talk)
    for field, value in WRONG_FIELDS:
        errors = talk.slack.submit(ADA, view.id, filled(**{field: value})).errors
        assert list(errors or {}) == [field], value
    assert held(talk.folder) == []


def home_of(talk: Talk, user: str) -> str:
    talk.finish(talk.slack.open_home(user))
    view = talk.slack.wait_for(lambda: talk.slack.home(user))
    return str(view.body["blocks"])


def test_home_shows_the_subscriptions_of_ones_channels(talk: Talk) -> None:
    """Home lists what the person's channels get, nothing of others and nothing that is private."""
    said(talk, "subscribe")
    said(talk, "subscribe o/m watch ENGINE_LOG", channel="C0TEAM")
    said(talk, "subscribe o/secret", channel="C0OPS")
    assert "o/m" in home_of(talk, ADA)
    assert "ENGINE_LOG" in home_of(talk, ADA)
    assert "secret" not in home_of(talk, ADA)
    lins = home_of(talk, LIN)
    assert "o/n" in lins
    assert "07:30" not in lins


def test_a_correction_moves_the_tier_in_its_channel(talk: Talk, slack: LoopbackSlack) -> None:
    """It moves by one tier at once and for good, however often it is said, and other channels see what they saw."""
    shown = talk.type(ADA, "#1")
    assert {"too_high", "too_low"} <= set(buttons(shown))
    assert "🟢" in whole(shown)
    for action, tier in (("too_low", "Medium"), ("too_low", "Medium"), ("too_high", "Low")):
        before = len(slack.private(ADA, DIGEST))
        talk.finish(press(talk.slack, ADA, DIGEST, shown.ts, action))
        assert tier in slack.private(ADA, DIGEST)[before].text
    talk.finish(press(talk.slack, ADA, DIGEST, shown.ts, "too_low"))
    assert "🟡" in whole(talk.type(ADA, "#1"))
    assert "🟢" in whole(talk.type(ADA, "#1", channel=talk.direct(ADA)))
    days = [whole(talk.type(ADA, "2026-02-05", channel=each)) for each in (DIGEST, talk.direct(ADA))]
    assert ["🟡 Medium 1" in day for day in days] == [True, False]


def test_ending_what_is_not_subscribed_lists_what_is(talk: Talk) -> None:
    """`unsubscribe` of another repository says so and lists the channel's; of several of one it offers only their ends."""
    for text in ("subscribe", "subscribe paths csrc/"):
        said(talk, text)
    assert "This channel has no subscription to nobody/nothing" in said(talk, "unsubscribe nobody/nothing")
    told = said(talk, "unsubscribe o/m")
    assert "This channel has no subscription to o/m" in told
    assert "csrc/" in told
    asked = talk.type(ADA, "unsubscribe o/n")
    assert set(buttons(asked)) == {"unsubscribe"}
    talk.finish(talk.slack.press(ADA, DIGEST, asked.ts, "unsubscribe", str(held(talk.folder)[1].id)))
    assert "Unsubscribed: o/n (Filter: csrc/)" in whole(talk.slack.private(ADA, DIGEST)[-1])


def test_a_button_of_what_has_ended_says_so(talk: Talk) -> None:
    """The buttons and the form of a subscription that ended meanwhile say that it has, and nothing comes of them."""
    said(talk, "subscribe")
    listed = talk.type(ADA, "subscriptions")
    assert "by" in whole(listed)
    (kept,) = held(talk.folder)
    form = opened(talk, "edit_subscription")
    assert form.body["title"]["text"] == "Edit subscription"
    said(talk, "unsubscribe")
    talk.finish(talk.slack.submit(ADA, form.id, filled()))
    assert "already cancelled" in whole(talk.slack.private(ADA, DIGEST)[-1])
    talk.finish(talk.slack.press(ADA, DIGEST, listed.ts, "unsubscribe", str(kept.id)))
    assert "already cancelled" in whole(talk.slack.private(ADA, DIGEST)[-1])
    talk.slack.press(ADA, DIGEST, listed.ts, "edit_subscription", str(kept.id))
    talk.slack.wait_for(lambda: "already cancelled" in str(talk.slack.modal(ADA)))
    assert held(talk.folder) == []


def test_what_would_be_refused_is_not_offered(talk: Talk) -> None:
    """A list shows no buttons to somebody who may not change the channel."""
    said(talk, "subscribe", channel="C0TEAM")
    assert buttons(talk.type(ADA, "subscriptions", "C0TEAM")) == ["edit_subscription", "unsubscribe"]
    assert buttons(talk.type(LIN, "subscriptions", "C0TEAM")) == []


def test_home_never_has_too_many_blocks(talk: Talk, github: FaultyGitHub, slack: LoopbackSlack) -> None:
    """With 150 repositories Home shows some of them and how many there are beside."""
    engine = open_engine(bot_database(talk.folder))
    for number in range(150):
        name = f"o/r{number}"
        github.repositories[name] = RecordedRepository([])
        Subscriptions(engine).keep(Terms(DIGEST, Repository.parse(name), time(9), ZoneInfo("UTC"), "en"), MORNING, ADA)
    engine.dispose()
    shown = home_of(talk, ADA)
    assert "and 125 more" in shown
    assert "and 136 more" in shown  # o/n is configured
    view = slack.home(ADA)
    assert view
    assert len(view.body["blocks"]) <= 100


@pytest.mark.parametrize(("repository", "told"), [("o/m", "Subscribed"), ("o/absent", "has no repository o/absent")])
def test_a_form_does_not_wait_for_a_slow_github(
    talk: Talk, github: FaultyGitHub, slack: LoopbackSlack, repository: str, told: str
) -> None:
    """While GitHub is slow a form is taken in time; what became of it is told privately, and kept once or not at all."""
    view = opened(talk)
    answering = Event()
    github.faults.append(Fault(repository, times=9, until=answering))
    done = slack.submit(ADA, view.id, filled(repository=repository))
    assert (done.errors or {}) == {}
    assert done.acked_after is not None
    assert done.acked_after < 3
    answering.set()
    talk.finish(done)
    assert told in whole(slack.private(ADA, DIGEST)[-1])
    assert len(held(talk.folder)) == (1 if told == "Subscribed" else 0)


# What is asked for again, in other words


def test_what_is_not_said_again_stays(talk: Talk) -> None:
    """Subscribing again changes what is said and keeps the rest, and the reply tells what changed."""
    said(talk, "subscribe at 07:00 tz Asia/Shanghai lang en min medium")
    told = said(talk, "subscribe at 08:00")
    assert "Changed: time 07:00 → 08:00" in told
    (kept,) = held(talk.folder)
    assert (f"{kept.terms.time:%H:%M}", kept.terms.tz.key, kept.terms.least.value) == (
        "08:00",
        "Asia/Shanghai",
        "medium",
    )
    assert "Already subscribed with these settings" in said(talk, "subscribe")


def test_a_repository_is_kept_as_github_writes_it(talk: Talk) -> None:
    """However a repository is typed, it is subscribed under its own name."""
    said(talk, "subscribe big/NAME at 08:00")
    said(talk, "subscribe O/N@main")
    assert {str(each.terms.repository) for each in held(talk.folder)} == {"Big/Name", "o/n@main"}
    assert "Commits: 2" in said(talk, "n 2026-02-05")


def test_a_form_refuses_a_branch_that_is_not_there_and_a_second_of_a_kind(talk: Talk) -> None:
    """Whoever submits a form is told privately of a missing branch, and of another subscription's likeness."""
    said(talk, "subscribe")
    shown = talk.type(ADA, "subscriptions")
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription", str(held(talk.folder)[0].id))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    said(talk, "subscribe paths csrc/")
    talk.finish(talk.slack.submit(ADA, view.id, filled(repository="o/n@absent")))
    assert "no branch o/n@absent" in whole(talk.slack.private(ADA, DIGEST)[-1])
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription", str(held(talk.folder)[0].id))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    talk.finish(talk.slack.submit(ADA, view.id, filled(paths="csrc/")))
    assert "with these paths" in whole(talk.slack.private(ADA, DIGEST)[-1])


# Later; what comes after it would be too late for its own digests


def test_each_channel_gets_its_own_selection_and_is_led_to_what_came_whole(talk: Talk, clock: SettableClock) -> None:
    """Two channels get the same day as each asked for it, one of them only what touches its paths.

    Who has the day posted then is led to the digest that came by itself, unless it left commits out.
    """
    slack, channels = talk.slack, (DIGEST, "C0TEAM")
    said(talk, "subscribe watch ENGINE_LOG")
    said(talk, "subscribe paths pkg/part2.py", channel="C0TEAM")
    clock.set(datetime(2026, 2, 6, 9, 0, tzinfo=UTC))
    slack.wait_for(lambda: all(posted(slack, each) for each in channels))
    roots = {each: posted(slack, each)[0] for each in channels}
    assert ["Commits: 2" in whole(root) for root in roots.values()] == [True, False]
    assert "Commits: 1" in whole(roots["C0TEAM"])
    assert "pkg/part2.py" in whole(roots["C0TEAM"])
    slack.wait_for(lambda: all(slack.thread(each, root.ts)[-1].files for each, root in roots.items()))
    for channel, had in zip(channels, (True, False), strict=True):
        shown = talk.type(ADA, "2026-02-05", channel)
        talk.finish(slack.press(ADA, channel, shown.ts, "post_to_channel"))
        assert ("Already in this channel" in slack.private(ADA, channel)[-1].text) is had
    slack.wait_for(lambda: len(posted(slack, "C0TEAM")) == 2)
