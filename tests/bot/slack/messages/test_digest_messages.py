"""The digest as Slack gets it: everything said, nothing live, every limit kept."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.consequences import breaks_others, title_line
from analysis.errors import Misuse
from analysis.locale import catalogue
from analysis.models import (
    Analysis,
    ChangeType,
    DayReport,
    Entry,
    Fact,
    FactKind,
    Failure,
    Importance,
    Insight,
    Language,
    Links,
    Ranked,
    Reason,
    Remark,
    Repository,
    Risk,
    Series,
    Severity,
    Shortened,
    Usage,
)
from analysis.models.impacts import (
    Cause,
    Certainty,
    Downstream,
    DownstreamImpacts,
    DownstreamPlace,
    Impact,
    ImpactKind,
    UpstreamPlace,
)
from analysis.text import one_line
from analysis.window import window
from analysis.writing.titles import number_of
from bot.local import sample_services
from bot.models.downstream import DownstreamCheck
from bot.models.subjects import CommitRef, DayRef, parse_commit_value, parse_day_value
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import commit_messages, thread_messages
from bot.slack.messages.digest import digest_messages, report_slack, rest_messages, summary_message
from bot.slack.messages.impacts import THREAD_MARK
from loopback.sample import SAMPLE_DAY, SAMPLE_REPOSITORY
from tests.factories import NOON, commit, file
from tests.slack_checks import assert_takes, buttons, read, strings

DAY = date(2026, 2, 5)
TZ = ZoneInfo("Asia/Shanghai")
ENGINE = Repository.parse("acme/engine")
WEB = "https://github.com/acme/engine/"
HOSTILE = (
    "<!channel> <@U123> <https://evil.example|x> https://evil.example www.evil.example \x1b[31m\u202e\u200b *b* _i_"
)
LONG = "The scheduler now holds `a.lock` while it moves blocks, and nobody waits. " * 40


def entry(
    number: int,
    tier: Importance = Importance.HIGH,
    *,
    title: str = "",
    author: str = "Ada",
    summary: str = "It does this. And that.",
    text: str = "something",
    links: Links | None = None,
    facts: Sequence[Fact] = (),
    read: bool = True,
) -> Entry:
    """A commit with an analysis whose every part says `text`."""
    made = commit(
        title or f"[Core] Change part {number} (#{number})",
        [file(f"engine/core/part{number}.py", additions=number, deletions=1)],
        sha=f"{number:040x}",
        author=author,
        at=NOON - timedelta(minutes=number),
        read=read,
    )
    analysis = Analysis(
        by="model",
        summary=summary,
        scope=(text, text),
        insight=Insight(architecture=text, security=text),
        risks=(Risk(risk=text, severity=Severity.HIGH, mitigation=text),),
        advice=(text,),
    )
    ranked = Ranked(
        score=1.0,
        importance=tier,
        reasons=(Reason(signal="removed flag", points=3.0, evidence=text[:300]),),
        change_types=(ChangeType.FEATURE, ChangeType.CONFIG),
    )
    return Entry(
        commit=made, facts=tuple(facts), ranked=ranked, links=links or Links(), analysis=analysis if read else None
    )


def report(entries: Sequence[Entry] = (), language: Language = "en", **more: Any) -> DayReport:
    return DayReport(
        repository=more.pop("repository", ENGINE),
        date=DAY,
        timezone=TZ.key,
        language=language,
        window=window(DAY, TZ),
        entries=tuple(entries),
        **more,
    )


@pytest.fixture(scope="module", params=["zh", "en"])
def sample(request: pytest.FixtureRequest) -> DayReport:
    with sample_services() as services:
        return services.digests.report(
            DayRef(Repository.parse(SAMPLE_REPOSITORY), SAMPLE_DAY, TZ.key, request.param),
            datetime(2026, 2, 7, tzinfo=UTC),
        )


def hostile() -> DayReport:
    titles = [HOSTILE, "", "x" * 3_000, HOSTILE * 100, "`" * 50, "a `b` c"]
    found = [
        entry(
            10 * place + number,
            tier,
            title=title,
            author=HOSTILE * 50,
            summary=HOSTILE * (1_000 if number == 1 else 1),
            text=HOSTILE * 20,
        )
        for place, tier in enumerate(Importance)
        for number, title in enumerate(titles)
    ]
    shas = [each.commit.sha for each in found]
    return report(
        found,
        late=(entry(99, title=HOSTILE),),
        failed=tuple(Failure(sha=sha, stage="read", reason=HOSTILE * 30) for sha in shas[:3]),
        replaced=(Failure(sha=shas[4], stage="analyse", reason=HOSTILE),),
        shortened=(Shortened(sha=shas[5], left_out=(HOSTILE,) * 200),),
        usage=Usage(model=HOSTILE, calls=3),
    )


def assert_whole(day: DayReport, messages: Sequence[Message]) -> None:
    """Every high commit has its message with title and analysis; another's title is in a list, or its line in the digest."""
    root, *thread = messages
    in_digest, lists = str(root.blocks), read(message for message in thread if not message.about)
    high = day.tier(Importance.HIGH)
    for each in (*day.entries, *day.late):
        if each not in high:
            title = one_line(title_line(each, catalogue(day.language))).replace("`", "")
            assert title in lists or (each.commit.url in in_digest and number_of(each.commit) in lists)
    for each in high:
        own = read([message for message in messages if message.about == each.commit.sha])
        assert one_line(each.commit.title).replace("`", "") in own
        if each.analysis and each.analysis.by == "model":
            assert one_line(each.analysis.summary).replace("`", "") in own
            rows = (*each.analysis.scope, *each.analysis.advice)
            assert all(one_line(row).replace("`", "") in own for row in rows)


def test_the_sample_day_is_told_whole_and_harmless(sample: DayReport) -> None:
    """Its messages are within every limit, link into the repository only, and leave no commit out."""
    messages = digest_messages(sample)
    assert_takes(messages)
    assert_whole(sample, messages)
    assert_takes([*rest_messages(sample), *summary_message(sample, shareable=True)])


def test_the_order_is_fixed(sample: DayReport) -> None:
    """The first message alone stands in the channel; then the high commits, others that break, medium, low, coverage."""
    root, *thread = digest_messages(sample)
    assert not root.thread
    assert all(message.thread for message in thread)
    high = [each.commit.sha for each in sample.tier(Importance.HIGH)]
    breaking = [each.commit.sha for each in sample.tier(Importance.MEDIUM) if breaks_others(each, sample.net(each))]
    assert [message.about for message in thread] == [*high, *breaking, "", "", ""]
    heads = [read([message])[:1] for message in thread[len(high) + len(breaking) :]]
    assert heads == ["🟡", "🟢", "📦"]


def test_the_first_message_has_the_date_and_the_references_line(sample: DayReport) -> None:
    """A person sees the day, its statistics and what follows from its commits, and where to press."""
    root = digest_messages(sample)[0]
    header, line = (block["text"]["text"] for block in root.blocks[:2])
    if sample.language == "zh":
        assert header == "lantern/lantern-serve · 2026-02-05 (周四)"
        assert line == "本日共 25 个提交 | 🔴高 6 | 🟡中 11 | 🟢低 8"
    else:
        assert header == "lantern/lantern-serve · 2026-02-05 (Thu)"
        assert line == "Commits: 25 | 🔴 High 6 | 🟡 Medium 11 | 🟢 Low 8"
    assert line in root.text
    assert read([root]).count("🎛️") == 1
    assert "--legacy-tokenizer" in read([root])
    day = DayRef(sample.repository, SAMPLE_DAY, "Asia/Shanghai", sample.language)
    found = buttons([root])
    assert list(found) == ["show_rest", "ask", "full_report", "why_here", "settings"]
    assert {parse_day_value(value) for value in found.values()} == {day}


def test_a_commit_message_answers_for_its_commit(sample: DayReport) -> None:
    """Each high commit's message carries its SHA, and its button the commit."""
    for message in digest_messages(sample)[1:]:
        if message.about:
            ref = parse_commit_value(buttons([message])["ask_commit"])
            assert ref == CommitRef(sample.repository, message.about, sample.language)


def test_bots_are_one_item_of_a_list() -> None:
    """What bots did is folded into a line with titles and linked numbers."""
    found = [entry(n, Importance.LOW, author="Ada" if n == 1 else "dependabot[bot]") for n in (1, 2, 3)]
    low = next(message for message in digest_messages(report(found)) if read([message]).startswith("🟢"))
    assert read([low]).endswith("🤖 and 2 by bots: Change part 2 #2 · Change part 3 #3")


def test_what_the_digest_tells_is_not_told_again(sample: DayReport) -> None:
    """A list has only numbers and places of the commits that have a line in the digest, which leads to their messages."""
    root, *thread = digest_messages(sample)
    medium = next(message for message in thread if read([message]).startswith("🟡") and not message.about)
    above = medium.blocks[-1]["elements"][-1]["elements"][-1]["elements"]
    assert above[0]["text"].startswith("⬆️")
    numbers = [piece["text"] for piece in above if piece["type"] == "link" and piece["text"].startswith("#")]
    assert len(numbers) > 1
    # Lines of commits that have a message of their own lead there, others to GitHub.
    apart = {message.about for message in thread if message.about}
    for entry in (each for each in sample.entries if f"#{each.commit.pr}" in numbers):
        assert str(medium.blocks).count(f"'{entry.commit.url}'") == 1
        marked = THREAD_MARK if entry.commit.sha in apart else ""
        assert f"'{entry.commit.url}{marked}'" in str(root.blocks)


def test_a_commit_with_a_message_is_in_no_list_again(sample: DayReport) -> None:
    """Its number stands among those told above, and a model's headline in place of the title of any other."""
    told = [
        Analysis(by="model", headline=f"Headline {place}", summary="It grows.") for place in range(len(sample.entries))
    ]
    entries = [each.model_copy(update={"analysis": one}) for each, one in zip(sample.entries, told, strict=True)]
    _, *thread = digest_messages(sample.model_copy(update={"entries": tuple(entries)}))
    apart = {message.about for message in thread if message.about}
    lists = read([message for message in thread if not message.about])
    for each in entries:
        listed = each.analysis is not None and f"{each.analysis.headline} " in lists
        assert listed is (each.commit.sha not in apart)
    own = read([message for message in thread if message.about])
    assert all(one.headline in own for each, one in zip(entries, told, strict=True) if each.commit.sha in apart)


def test_a_tier_of_bots_alone_is_a_list_as_any(sample: DayReport) -> None:
    """Where nobody else did anything, bots are not folded."""
    day = report([entry(n, Importance.LOW, author="dependabot[bot]") for n in range(1, 4)])
    assert "🤖" not in read(rest_messages(day))


def test_ninety_high_commits_with_long_analyses_lose_nothing() -> None:
    """What the first message has no room for is counted there, and listed by its button."""
    day = report([entry(n, summary=LONG, text="`engine.core` " + LONG[:800]) for n in range(1, 91)])
    messages = digest_messages(day)
    assert_takes(messages, WEB)
    assert_whole(day, messages)
    root = messages[0]
    shown = read([root]).count(" · #")
    assert 0 < shown < 90
    assert f"({shown}/90)" in read([root])
    assert f"{90 - shown} others" in " ".join(strings(root.blocks))
    assert read(rest_messages(day)).count("Change part") == 90 - shown
    assert len(summary_message(day, shareable=False)) == 1


def test_hostile_text_is_shown_and_does_nothing() -> None:
    """Tokens, addresses, control characters and endless texts in every field: nothing is live, nothing is lost."""
    day = hostile()
    messages = digest_messages(day)
    assert_takes([*messages, *rest_messages(day), *summary_message(day, shareable=True)], WEB)
    assert_whole(day, messages)
    for each in day.entries:
        for public in (True, False):
            assert_takes(commit_messages(ENGINE, each, "zh", TZ, public=public, shareable=not public), WEB)


def test_a_hostile_branch_is_harmless() -> None:
    """A branch's name may hold nearly anything, and comes back from a button as it was."""
    repository = Repository.parse("acme/engine@<!channel>|`_x_`" + "y" * 300)
    for entries in ([], [entry(1)]):
        day = report(entries, repository=repository)
        messages = summary_message(day, shareable=True)
        assert_takes([*messages, *digest_messages(day)], WEB)
        assert parse_day_value(buttons(messages)["post_to_channel"]).repository == repository


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("zh", "acme/engine · 2026-02-05 (周四) · 本日没有提交 · 本日共 0 个提交 | 🔴高 0 | 🟡中 0 | 🟢低 0"),
        (
            "en",
            "acme/engine · 2026-02-05 (Thu) · No commits on this day · Commits: 0 | 🔴 High 0 | 🟡 Medium 0 | 🟢 Low 0",
        ),
    ],
)
def test_an_empty_day_is_one_line(language: Language, said: str) -> None:
    """Nothing happened: one message, one line, no thread."""
    (message,) = digest_messages(report(language=language))
    assert [block["text"]["text"] for block in message.blocks] == [said]
    assert not message.thread
    assert_takes([message], WEB)
    assert_takes(rest_messages(report(language=language)), WEB)


def test_what_could_not_be_read_is_said_at_the_top() -> None:
    """The first message counts the failures with their reason; the commits stay in their lists and are named in the coverage."""
    unread = [entry(n, Importance.MEDIUM, read=False) for n in range(1, 4)]
    day = report(
        [*unread, entry(4, read=False)],
        failed=tuple(Failure(sha=f"{n:040x}", stage="read", reason="limit, resets 14:05") for n in range(1, 5)),
        remarks=(Remark.NOT_OVER,),
    )
    messages = digest_messages(day)
    assert_takes(messages, WEB)
    first = read(messages[:1])
    assert "⚠️ 4 commits could not be read: limit, resets 14:05" in first
    assert "not over" in first
    assert "could not be read: limit, resets 14:05" in read([messages[1]])
    assert first.count("⚠️ Failed") == 4
    assert read(messages[-1:]).count("limit, resets 14:05") == 4


def test_late_commits_have_a_list_of_their_own() -> None:
    """What landed late is counted in the first message and listed with its date."""
    day = report([entry(1)], late=(entry(50, Importance.LOW), entry(51)))
    messages = digest_messages(day)
    assert "⏰ Landed late (2)" in " ".join(strings(messages[0].blocks))
    late = next(message for message in messages if read([message]).startswith("⏰"))
    assert "🟢 2026-02-05 Change part 50 #50" in read([late])
    assert_takes(messages, WEB)


def test_the_coverage_names_all_that_is_not_told_in_full() -> None:
    """What a model cost, and every failed, replaced and shortened commit, stand in the last message."""
    day = report(
        [entry(n) for n in (1, 2, 3)],
        replaced=(Failure(sha=f"{1:040x}", stage="analyse", reason="the model timed out"),),
        shortened=(Shortened(sha=f"{2:040x}", left_out=("csrc/a.cu", "csrc/b.cu")),),
        usage=Usage(model="small", calls=3, cost_usd=0.5),
    )
    last = read(digest_messages(day)[-1:])
    for said in ("3 commits analysed by a model", "small", "$0.5000", "the model timed out", "csrc/a.cu, csrc/b.cu"):
        assert said in last


def test_ties_are_links_into_the_repository() -> None:
    """A commit's message links what it reverts, fixes and belongs to, and its pull request unless the title names it."""
    one, two, three = (f"{n:040x}" for n in (1, 2, 3))
    links = Links(reverts=two, reverted_by=three, fixes=(two,), series=Series(part=1, of=None, commits=(one, three)))
    made = entry(1, title="Merge pull request #1 from a", links=links)
    messages = commit_messages(ENGINE, made, "en", TZ, public=True)
    urls = [
        piece["url"]
        for block in messages[0].blocks
        if block["type"] == "rich_text"
        for part in block["elements"]
        for piece in part["elements"]
        if piece["type"] == "link"
    ]
    assert urls == [f"{WEB}commit/{one}", *(f"{WEB}commit/{each}" for each in (two, three, three, two))]
    assert "reverts 0000000 · reverted by 0000000 · part 1 of a series of N (0000000) · fixes 0000000" in read(messages)


def test_a_commit_that_is_not_on_the_branch_is_marked() -> None:
    """Its reply says so beside the title."""
    made = entry(1, facts=[Fact(kind=FactKind.REMOVED_FLAG, name="--x")])
    made = made.model_copy(update={"commit": made.commit.model_copy(update={"not_on": "main"})})
    (message,) = commit_messages(ENGINE, made, "en", TZ, public=True)
    assert "(#1)  ⚠️ not on main" in read([message])


def test_a_private_reply_can_be_posted_and_a_public_one_is_a_thread() -> None:
    """Privately all messages stand side by side with a button; in the channel what follows goes into the thread."""
    made = entry(1, summary=LONG * 10)
    private = commit_messages(ENGINE, made, "en", TZ, public=False, shareable=True)
    public = commit_messages(ENGINE, made, "en", TZ, public=True)
    assert parse_commit_value(buttons(private)["post_to_channel"]).sha == made.commit.sha
    assert "post_to_channel" not in buttons(public)
    assert [message.thread for message in private] == [False] * len(private)
    assert [message.thread for message in public] == [False, *[True] * (len(public) - 1)]
    assert {message.about for message in public} == {made.commit.sha}
    assert len(public) > 3


def test_a_commit_without_an_analysis_says_why() -> None:
    """One that could not be read is told with the reason."""
    messages = thread_messages(ENGINE, entry(1, read=False), "zh", "limit")
    assert "未能读取：limit" in read(messages)


def test_a_private_day_can_be_posted_only_where_it_may() -> None:
    """The button is there when the day is shareable, also for a day without commits."""
    for entries in ([], [entry(1)]):
        day = report(entries)
        assert "post_to_channel" in buttons(summary_message(day, shareable=True))
        assert "post_to_channel" not in buttons(summary_message(day, shareable=False))


def test_json_is_the_list_of_messages(sample: DayReport) -> None:
    """`--format slack` is a list of text, blocks and thread, a day after the other."""
    messages = json.loads(report_slack([sample, report(language=sample.language)]))
    assert all(message.keys() == {"text", "blocks", "thread"} for message in messages)
    assert [message["thread"] for message in messages].count(False) == 2
    assert "2026-02-05" in messages[0]["blocks"][0]["text"]["text"]


@pytest.mark.parametrize(
    "value", ["", "x", "a/b|2026-02-05|UTC", "a/b|2026-02-30|UTC|zh", "a/b|2026-02-05|UTC|fr", "a|b|c|d"]
)
def test_a_foreign_value_is_refused(value: str) -> None:
    """A button that is not ours is a misuse and no crash."""
    with pytest.raises(Misuse):
        parse_day_value(value)
    with pytest.raises(Misuse):
        parse_commit_value(value)


def broken_by(number: int, places: int) -> tuple[DownstreamImpacts, ...]:
    """What a commit breaks in so many places of a plug-in whose every part is long and hostile."""
    plug = Downstream(
        name="acme/plug",
        files_url=f"{WEB}blob/main",
        packages=("engine",),
        files=1134,
        python_files=900,
        uses=6204,
        unparsed=(HOSTILE,),
    )
    found = tuple(
        Impact(
            kind=ImpactKind.CALL,
            certainty=Certainty.PROVEN,
            cause=Cause.REMOVED,
            name=f"engine.{HOSTILE}.{place // 2}",
            upstream=UpstreamPlace(path=f"{HOSTILE}.py", line=1, before=LONG, after=HOSTILE),
            downstream=DownstreamPlace(path=f"{HOSTILE}.py", line=place + number, code=f"{HOSTILE} `{LONG}"),
            advice=f"{HOSTILE}\n{LONG}",
        )
        for place in range(places)
    )
    return (DownstreamImpacts(downstream=plug, impacts=found),)


@pytest.mark.parametrize(("commits", "places"), [(1, 1), (40, 30)])
def test_what_breaks_the_code_is_within_slacks_limits(commits: int, places: int) -> None:
    """However many commits break however many lines, whatever they say, nothing is live, and what is left out is counted."""
    entries = [entry(number, Importance.LOW) for number in range(1, commits + 1)]
    found = {each.commit.sha: broken_by(number, places) for number, each in enumerate(entries)}
    check = DownstreamCheck(compared=(found[entries[0].commit.sha][0].downstream,), commits=found)
    root, *thread = messages = digest_messages(report(entries), check=check)
    assert_takes(messages, WEB)
    assert ("32 more commits in the thread" in read([root])) is (commits == 40)
    assert read([root]).count("and 29 more places") == (8 if commits == 40 else 0)
    assert sum("Breaks your code" in read([each]) for each in thread) == commits
    assert ("and 22 more places" in read(thread)) is (places == 30)
