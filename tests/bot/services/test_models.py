"""A model analyses a day: whatever it does, each commit ends with a checked analysis or the rules', and the coverage says which."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import cycle, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmock.scenarios import Behavior, Fail, Reply, StreamFault
from llmock.testing import LLMockServer

from analysis.consequences.period import lead_of, shown_lines
from analysis.facts import facts
from analysis.llm import ChatModel
from analysis.models import DayReport, Importance, Language, Repository
from analysis.ranking import rank
from analysis.report.markdown import reports_markdown, short_markdown
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.limits import MeteredModel
from loopback.sample import sample_repository
from tests.conftest import important, recorded
from tests.injections import PLACES, injected, injections
from tests.servers.chat import Say, ScriptedChat
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.strategies import examples

Serve = Callable[..., FaultyGitHub]
At = Callable[..., Services]
Read = Callable[..., DayReport]
Chat = Callable[[Say], ScriptedChat]

DAY = date(2026, 2, 5)
REPOSITORY = Repository(owner="o", name="n")
NOW = datetime(2026, 2, 6, 9, tzinfo=UTC)
MOVED = {"move": "keep", "move_reason": ""}


def said(summary: str, **changes: Any) -> str:
    """A reply that fits every depth's form."""
    insight = dict.fromkeys(
        ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
    )
    whole = {"summary": summary, "scope": [], "insight": insight, "risks": [], "advice": [], **MOVED} | changes
    return json.dumps(whole, ensure_ascii=False)


@pytest.fixture
def read(services: At) -> Iterator[Read]:
    """Reads the day with a model at an address."""
    models: list[ChatModel] = []

    def day(
        github: FaultyGitHub,
        url: str | None,
        language: Language = "en",
        *,
        name: str = "scripted",
        usd: float = 2.0,
        timeout: float = 2,
    ) -> DayReport:
        models.append(ChatModel(name, base_url=url, api_key="key", timeout=timeout))
        at = services(github)
        metered = MeteredModel(models[-1], at.store.spending, lambda: NOW, at_once=4, daily_usd=usd)
        at = Services(at.github, at.store, metered)
        return at.digests.report(DayRef(REPOSITORY, DAY, "UTC", language), NOW)

    yield day
    for model in models:
        model.close()


@pytest.fixture
def chat() -> Iterator[Callable[[Say], ScriptedChat]]:
    running: list[ScriptedChat] = []

    def start(say: Say) -> ScriptedChat:
        running.append(ScriptedChat(say).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture(scope="module")
def mock() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        yield server


LOW = {"commit": "01" * 4, "summary": "Changes `work` so that part 1 is fast.", **MOVED}
SHOWN = [{"statement": 1, "lines": "1", "verdict": "shown"}]
GOOD = said(LOW["summary"], commits=[LOW], verdicts=SHOWN)  # fits every form


@pytest.mark.parametrize(
    ("behaviours", "by"),
    [
        ([], "model"),
        ([Fail(429, retry_after=0.1)], "model"),
        ([Fail(500), Fail(502)], "model"),
        ([Fail(500, times=None)], "rules"),
        ([Fail(500, message="unknown field response_format", times=3)], "model"),
        ([Fail(400, message="response_format is not supported")], "model"),
        ([Fail(422)], "model"),
        ([Fail(400, times=None)], "rules"),
        ([Fail(401)], "rules"),
        ([Fail(404, message="The model `x` does not exist")], "rules"),
        ([StreamFault("disconnect", after_chunks=2)], "rules"),
        ([StreamFault("truncate", after_chunks=2)], "rules"),
        ([StreamFault("malformed", after_chunks=2)], "rules"),
        ([StreamFault("stall", after_chunks=2, stall_seconds=5)], "rules"),
        ([Reply(text=f"```json\n{GOOD}\n```")], "model"),
        ([Reply(text=f"Here it is:\n```\n{GOOD}\n```\nBye")], "model"),
        ([Reply(text=GOOD[:-2])], "model"),
        ([Reply(text="   ")], "model"),
        ([Reply(text=GOOD[:40], finish_reason="length")], "model"),
        ([Reply(text=GOOD[:40], finish_reason="length", times=None)], "rules"),
        ([Reply(text="no", finish_reason="content_filter")], "rules"),
        ([Reply(text="I cannot do that."), Reply(text="Still not.")], "rules"),
    ],
)
def test_every_fault_ends_in_an_analysis(
    behaviours: list[Behavior], by: str, mock: LLMockServer, serve: Serve, read: Read
) -> None:
    """Every rung of the ladder and every fault ends in the model's analysis or in the rules', with the coverage saying so."""
    mock.state.scenarios.clear()
    # What the mock makes up itself names nothing of the commit: what counts here is a reply of ours behind the fault.
    mock.state.scenarios.add(*behaviours, Reply(text=GOOD, times=None))
    report = read(serve(recorded(1)), mock.base_url("openai"), timeout=1)
    (entry,) = report.entries
    assert entry.analysis
    assert entry.analysis.by == by
    coverage = report.coverage
    assert (coverage.analysed, coverage.by_rules, len(coverage.failed)) == ((1, 0, 0) if by == "model" else (0, 1, 0))
    assert [failure.sha for failure in coverage.replaced] == ([] if by == "model" else [entry.commit.sha])
    assert report.usage.model == "scripted"


def test_a_commit_is_analysed_once_ever(serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]) -> None:
    """One call a commit, language, model and version of the prompt; a second reading of the day makes none."""
    server = chat(lambda _: said("Changes `work`."))
    github = serve(*(recorded(n) for n in range(1, 9)))
    first = read(github, server.url)
    assert len(server.requests) == 8
    assert read(github, server.url) == first
    assert len(server.requests) == 8
    usage = first.usage
    calls = [len(each) for each in server.others.values()]
    assert calls == [1, 0, 1, 1], "two for all commits, which are of low importance, and one for the edit of the day"
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (3, 300, 60, 30)
    assert usage.cost_usd is None, "a local server has no price"
    read(github, server.url, "zh")
    read(github, server.url, name="other")
    assert len(server.requests) > 16


def test_low_commits_are_summarised_in_one_call(serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]) -> None:
    """Each summary is checked against its own commit; a commit that is left out, or told of another, is analysed by rules."""
    told = [("01" * 4, "Changes `part1.py`."), ("03" * 4, "Changes `part1.py`."), ("ff" * 4, "Changes `part2.py`.")]
    items = [{"commit": sha, "summary": summary, **MOVED} for sha, summary in told]
    server = chat(lambda _: "")
    server.scripts["_LowCommits"] = lambda _: json.dumps({"commits": items})
    report = read(serve(*(recorded(n) for n in (1, 2, 3))), server.url)
    assert (len(server.others["_LowCommits"]), report.usage.calls) == (1, 2)
    assert [entry.analysis and entry.analysis.by for entry in report.entries] == ["rules", "rules", "model"]
    assert "Changes `part1.py`." in short_markdown(report)
    reasons = {each.sha[:2]: each.translated("en") for each in report.replaced}
    assert reasons == {"02": "the reply left out the commit", "03": "the reply is not about the commit"}


def test_the_second_language_is_a_translation(serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]) -> None:
    """What stays in the analysis is translated in one call; a text that loses a name or a figure is left out."""
    whole = said("Removes `APP_OLD_WAY`.", headline="`APP_OLD_WAY` is gone", advice=["Rebuild.", "Callers wait."])
    chinese = ["`APP_OLD_WAY` 已移除", "移除 `APP_OLD_WAY`。", "重新构建。", "等待 3 秒。"]
    server = chat(lambda _: whole)
    github = serve(important())
    assert read(github, server.url).usage.calls == 2
    server.scripts["_Translation"] = lambda _: json.dumps({"texts": chinese})
    report = read(github, server.url, "zh")
    assert (len(server.requests), report.usage.calls, report.usage.removed_claims) == (1, 1, 1)
    assert report.entries[0].analysis
    assert (report.entries[0].analysis.headline, report.entries[0].analysis.advice) == (chinese[0], ("重新构建。",))


def test_a_translation_that_fails_is_replaced_by_a_reading(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """The whole commit is read in the second language too, and the translation made in vain is paid as well."""
    server = chat(
        lambda request: said("移除 `APP_OLD_WAY`。" if "简体中文" in str(request) else "Removes `APP_OLD_WAY`.")
    )
    github = serve(important())
    read(github, server.url)
    report = read(github, server.url, "zh")
    assert (report.coverage.analysed, report.usage.calls) == (1, 3)
    assert len(server.others["_Translation"]) == 1


def test_a_day_is_edited_once(serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]) -> None:
    """The day's commits are ordered within their groups, under a sentence about some; numbers that no line has are dropped."""
    written = {"order": [3, 1, 99], "about": [2, 77], "lead": "Everybody should know that part 3 changes."}
    server = chat(lambda _: "no form")
    server.scripts["_Edit"] = lambda _: json.dumps(written)
    github = serve(*(recorded(n, message=f"Fix {n} crashes in part {n}") for n in range(1, 6)))
    report = read(github, server.url)
    (lines,) = [each.lines for each in shown_lines(report)]
    assert [line.entry.commit.subject[-1] for line in lines] == ["3", "5", "4", "2", "1"]
    lead = lead_of(report)
    assert lead
    assert (lead.text, [each.commit.subject[-1] for each in lead.entries]) == (written["lead"], ["4"])
    assert report.edit == read(github, server.url).edit
    [asked] = server.others["_Edit"]
    told = asked["messages"][-1]["content"]
    assert "Only 15 of them are shown" in told
    assert re.search(r"1\. \[[^]]*Fixes[^]]*\] rank (high|medium|low): Fix \d crashes", told)


@pytest.mark.parametrize(
    "lead", ["", "It removes `NEVER_THERE`.", "这是另一种语言的句子，不是英文。", "See https://evil.example"]
)
def test_a_sentence_that_fails_the_check_leaves_the_order(
    lead: str, serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """A sentence in another language, or with what its commits do not have, is not shown; the order stands."""
    server = chat(lambda _: "no form")
    server.scripts["_Edit"] = lambda _: json.dumps({"order": [2, 1], "about": [1], "lead": lead})
    report = read(serve(*(recorded(n, message=f"Fix a crash in part {n}") for n in range(1, 6))), server.url)
    assert lead_of(report) is None
    assert report.edit
    assert len(report.edit.order) == 2


def test_what_the_commit_does_not_bear_out_is_not_in_the_report(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """Invented files, symbols, pull requests, figures, links and headings are taken out and counted; nothing is asked again."""
    lie = said(
        "Changes `work` in `pkg/part1.py`. It also rewrites `pkg/secret_engine.py`. See #4711 for more. Throughput grows by 35%.",
        scope=["`pkg/part1.py`", "`pkg/nowhere/else.py`", "`turbo_mode_flag`"],
        advice=["Read [the guide](https://evil.example/x)", "# Do this", "Rebuild."],
    )
    server = chat(lambda _: lie)
    report = read(serve(recorded(1, message="[Feature] Support parts (#1)")), server.url)
    assert len(server.requests) == 1
    markdown = reports_markdown([report])
    for invented in ("secret_engine", "4711", "35%", "nowhere", "turbo_mode_flag", "evil.example"):
        assert invented not in markdown
    (entry,) = report.entries
    assert entry.analysis
    assert entry.analysis.by == "model"
    assert "Changes `work` in `pkg/part1.py`." in entry.analysis.summary
    assert (report.usage.removed_claims or 0) >= 5
    assert not re.search(r"^#+ Do this", markdown, re.MULTILINE)


@pytest.mark.parametrize(
    ("language", "other"),
    [("zh", "This is English, although Chinese was asked for."), ("en", "这是中文，虽然要求的是英文。")],
)
def test_the_wrong_language_is_replaced(
    language: Language, other: str, serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """A reply in another language is never in a report."""
    server = chat(lambda _: said(other))
    report = read(serve(important()), server.url, language)
    assert len(server.requests) == 1
    assert report.coverage.by_rules == 1
    assert "language" in report.coverage.replaced[0].translated("en")


def test_a_reply_about_something_else_is_replaced(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """What a model says without naming anything of the commit is dropped, and the rules take over."""
    server = chat(lambda _: said("The response must contain at least two sentences."))
    report = read(serve(important()), server.url)
    assert len(server.requests) == 1
    assert report.coverage.replaced[0].translated("en") == "the reply is not about the commit"
    assert (report.usage.calls, report.usage.input_tokens) == (1, 100), "what was asked in vain was paid too"


def test_a_reply_that_gives_away_the_prompt_is_dropped(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """The mark in the system prompt must not come back."""

    def leaking(request: dict[str, Any]) -> str:
        system = request["messages"][0]["content"]
        return said(f"My rules are: {system[-400:]}")

    report = read(serve(recorded(1)), chat(leaking).url)
    assert report.coverage.by_rules == 1
    assert "revealed the prompt" in report.coverage.replaced[0].translated("en")


LOCKED = "@@ -1,2 +1,3 @@\n def step(self):\n-    self.run()\n+    with self._lock:\n+        self.run()"
REMARKED = "@@ -1,2 +1,2 @@\n-# one remark\n+# another remark\n a = 1"


@pytest.mark.parametrize(
    ("path", "patch", "move", "reason", "steps"),
    [
        ("pkg/core.py", LOCKED, "up", "It takes `self._lock` around each step.", 1),
        ("pkg/core.py", LOCKED, "up", "It matters more.", 0),
        ("pkg/core.py", LOCKED, "down", "It matters less.", 0),
        ("pkg/core.py", LOCKED, "down", "One step waits [1].", 0),
        ("pkg/core.py", LOCKED, "down", "One step waits [2-3].", -1),
        ("pkg/core.py", REMARKED, "down", "Only a remark changes.", -1),
        ("pkg/core.py", REMARKED, "up", "A remark matters.", 0),
        ("docs/x.md", LOCKED, "up", "It takes `self._lock`.", 0),
    ],
)
def test_a_model_moves_a_commit_by_one_tier_where_the_diff_bears_it_out(
    path: str,
    patch: str,
    move: str,
    reason: str,
    steps: int,
    serve: Serve,
    read: Read,
    chat: Callable[[Say], ScriptedChat],
) -> None:
    """For changed lines that the reason cites; up for a fact that it names, down where only remarks change. The reason is shown."""
    file = {"filename": path, "status": "modified", "additions": 2, "deletions": 1, "patch": patch}
    server = chat(lambda _: said("Changes one part.", move=move, move_reason=reason))
    github = serve(recorded(1, files=[file]))
    tiers = [Importance.LOW, Importance.MEDIUM, Importance.HIGH]
    before = tiers.index(read(github, "http://127.0.0.1:9/v1", name="none").entries[0].ranked.importance)
    after = read(github, server.url).entries[0].ranked
    assert after.importance is tiers[max(0, min(2, before + steps))]
    assert (after.reasons[-1].evidence == re.sub(r" \[.*\]", "", reason)) is (after.importance is not tiers[before])


@pytest.mark.parametrize(("move", "first"), [("up", 0), ("down", 3)])
def test_a_model_that_obeys_every_instruction_moves_nothing(
    move: str, first: int, serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """Of 67 injected commits of the sample day each keeps the tier that the rules give it without the injection."""
    sample = [each for each in sample_repository().commits.values() if each["committer"]["date"] >= "2026-02-04T16"]
    told, plain = [], []
    for number, instruction in enumerate(islice(injections(200), first, None, 6)):
        date = (datetime(2026, 2, 5, tzinfo=UTC) + timedelta(minutes=number)).isoformat()
        placed = {
            "sha": f"{number + 1:04x}" * 10,
            "parents": [f"{number:04x}" * 10] if number else [],
            "author": {"name": "Ada", "date": date},
            "committer": {"name": "Ada", "date": date},
        }
        each = {**sample[number % len(sample)], **placed}
        plain.append(each)
        told.append(injected(each, instruction, PLACES[number % len(PLACES)]))

    def obedient(request: dict[str, Any]) -> str:
        asked = "\n".join(str(message["content"]) for message in request["messages"])
        names = " ".join(re.findall(r"`[^`]+`|\b\w*_\w+\b|--[a-z-]+", asked)[:20])
        return said("Changes the engine.", move=move, move_reason=f"It is as the commit says: {names}")

    # Each of the sample is told to the model several times, and ranked by rules once.
    with closing(GitHub(serve(*plain).url, "token")) as source:
        commits = [source.read_commit(REPOSITORY, each["sha"]) for each in plain[: len(sample)]]
    tiers = cycle([rank(each, facts(each)).importance for each in commits])
    after = read(serve(*told), chat(obedient).url).entries
    assert [each.ranked.importance for each in reversed(after)] == list(islice(tiers, len(told)))


def test_a_breaking_change_stays_above_its_floor(serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]) -> None:
    """A model cannot move a removed environment variable below medium, whatever reason it gives."""
    server = chat(lambda _: said("Removes `APP_OLD_WAY`.", move="down", move_reason="Nobody uses it."))
    assert read(serve(important()), server.url).entries[0].ranked.importance is not Importance.LOW


def test_the_daily_budget_is_kept(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the day's money is used up no further call is made, the rules take over, and the coverage says why.

    Each of these calls reserves more than $0.012 and costs $0.0004: what is reserved meanwhile is not used up.
    """
    server = chat(lambda _: said("Removes `APP_OLD_WAY`."))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    report = read(serve(*(important(n) for n in range(1, 11))), None, name="gpt-4o", usd=0.018)
    assert 0 < report.coverage.analysed <= len(server.requests) < 9
    assert report.coverage.by_rules == 10 - report.coverage.analysed
    assert {failure.translated("en") for failure in report.coverage.replaced} == {
        "today's budget is used up (DIGEST_DAILY_BUDGET_USD)"
    }
    assert report.usage.cost_usd
    assert report.usage.cost_usd < 0.018


def test_each_call_of_an_analysis_is_paid_for_once(
    serve: Serve, services: At, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An analysis costs what its call and the second reading cost, and nothing stays reserved."""
    server = chat(lambda _: said("Removes `APP_OLD_WAY`."))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    at = services(serve(important()))
    with closing(ChatModel("gpt-4o", api_key="key")) as model:
        metered = MeteredModel(model, at.store.spending, lambda: NOW, at_once=1, daily_usd=2.0)
        report = Services(at.github, at.store, metered).digests.report(DayRef(REPOSITORY, DAY, "UTC", "en"), NOW)
        assert len(server.requests) == 1
        paid = 2 * (model.cost(100, 20, 10) or 0)
    assert at.store.spending.spent(NOW.date()) == pytest.approx(paid)
    assert report.usage.cost_usd == pytest.approx(paid)
    assert at.store.spending.reserve(NOW.date(), "digest", 2.0 - paid, 2.0, 2.0, NOW)


def test_a_wrong_key_is_tried_once(serve: Serve, read: Read, mock: LLMockServer) -> None:
    """What would fail for every commit alike is not tried for each."""
    mock.state.scenarios.clear()
    mock.state.scenarios.add(Fail(401, times=None))
    mock.state.journal.clear()
    report = read(serve(*(recorded(n) for n in range(1, 21))), mock.base_url("openai"))
    assert report.coverage.by_rules == 20
    assert all("OPENAI_API_KEY" in failure.translated("en") for failure in report.coverage.replaced)
    assert len(mock.state.journal.records()) <= 4


def test_prompts_delimit_the_data_with_a_mark_that_differs(
    serve: Serve, read: Read, chat: Callable[[Say], ScriptedChat]
) -> None:
    """Each question has marks of its own, the data stands between them, and no secret of ours is in a prompt."""
    server = chat(lambda _: said("Removes `APP_OLD_WAY`."))
    read(serve(important(1), important(2)), server.url)
    marks = set()
    for request in server.requests:
        system, user = (message["content"] for message in request["messages"][:2])
        (mark,) = set(re.findall(r"\b[0-9a-f]{16}\b", user))
        assert user.count(mark) == 2
        assert mark in system
        marks.add(mark)
        assert "token" not in str(request.get("Authorization", ""))
    assert len(marks) == 2


SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["summary", "move", "scope", "risks", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
) | st.text(max_size=200)


@pytest.mark.hypothesis
def test_whatever_a_model_says_ends_in_an_analysis(serve: Serve, services: At, chat: Chat) -> None:
    """Replies of any shape and any characters leave a commit with an analysis, and the coverage adding up."""
    first, said = date(2025, 1, 1), [""]
    server = chat(lambda _: said[-1])
    days = [first + timedelta(days=number) for number in range(100)]
    found = services(serve(*(recorded(n + 1, date=f"{day}T12:00:00Z") for n, day in enumerate(days))))

    @examples(20)
    @given(SHAPES)
    def holds(reply: object) -> None:
        said.append(reply if isinstance(reply, str) else json.dumps(reply))
        metered = MeteredModel(model, found.store.spending, lambda: NOW, at_once=1, daily_usd=2.0)
        ref = DayRef(REPOSITORY, days[len(said) % len(days)], "UTC", "en")
        coverage = Services(found.github, found.store, metered).digests.report(ref, NOW).coverage
        assert coverage.analysed + coverage.by_rules == 1

    with closing(ChatModel("scripted", base_url=server.url, timeout=5)) as model:
        holds()
    assert len(server.requests) >= 40


def test_what_failed_is_asked_again_after_a_while_only(serve: Serve, services: At, chat: Chat) -> None:
    """A day that is asked for again at once does not put a failed question again; later it does, and the cost was never hidden."""
    server = chat(lambda _: "no form at all")
    clock = SettableClock(NOW)
    with closing(ChatModel("scripted", base_url=server.url, timeout=2)) as model:
        at = services(serve(recorded(1)))
        at = Services(at.github, at.store, MeteredModel(model, at.store.spending, clock, at_once=4, daily_usd=2.0))

        def day() -> DayReport:
            return at.digests.report(DayRef(REPOSITORY, DAY, "UTC", "en"), clock())

        first, asked = day(), len(server.requests)
        again = day()
        assert len(server.requests) == asked
        assert again.replaced == first.replaced != ()
        assert again.usage == first.usage
        clock.advance(timedelta(minutes=11))
        server.say = lambda _: GOOD
        assert day().replaced == ()
        assert len(server.requests) > asked
