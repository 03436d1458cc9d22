"""Analyses by a model: when a call slot is held, and what is checked."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import ModelFailure
from analysis.facts import facts
from analysis.llm import ChatModel, UsageCounter
from analysis.models import Commit, FileChange, Importance, Insight, Repository
from analysis.ranking import packaged_weights, rank
from analysis.writing.by_model import Analysed, AnalysisRequest, Asker, analyse
from tests import factories
from tests.conftest import NOON
from tests.servers.chat import Calls, Said, ScriptedChat, confirming
from tests.servers.reading_model import ReadingModel

REPOSITORY = Repository(owner="o", name="n")
REST = {"scope": [], "advice": [], "insight": Insight().model_dump(), "risks": [], "move": "keep", "move_reason": ""}
FIRST = json.dumps({**REST, "summary": "`part.py` loads. Changes `work`.", "advice": ["Callers wait."]})


def test_a_slot_is_held_while_the_model_replies_and_at_no_other_time() -> None:
    """Prompts are written and replies checked without a call slot, and a second call takes a slot of its own."""
    events: list[str] = []
    commit = Commit(
        sha="a" * 40,
        url="https://github.example/x",
        author="Core Team",
        authored_at=NOON,
        committed_at=NOON,
        message="Change `work`",
        files=(FileChange(path="part.py", patch="@@ -1 +1 @@\n-work = 1\n+work = 2"),),
    )

    def reply(_: object) -> str:
        events.append("call")
        return json.dumps({"summary": "Changes `work`. It calls `absent_name`.", **REST})

    def contents() -> str:
        events.append("check")
        return "nothing"

    def mark() -> str:
        events.append("prompt")
        return "mark"

    @contextmanager
    def slot(_: tuple[int, int]) -> Iterator[None]:
        events.append("taken")
        yield
        events.append("free")

    with ScriptedChat(reply) as chat, closing(ChatModel("scripted", base_url=chat.url, api_key="none")) as model:
        ranked = rank(commit, (), packaged_weights(REPOSITORY)).model_copy(update={"importance": Importance.MEDIUM})
        request = AnalysisRequest(REPOSITORY, commit, (), ranked, "en", contents)
        analyse(request, Asker(model, UsageCounter(), slot, mark))
    once = ["taken", "call", "free"]
    assert events == ["prompt", "prompt", *once, "check", "taken", "free"]  # the last for the second reading


@pytest.mark.parametrize(
    ("summary", "left"),
    [("Changes `work`. It calls `absent_name`.", "Changes `work`."), ("It calls `absent_name`.", "`work` is two")],
)
def test_a_doubtful_sentence_is_dropped_and_counted(summary: str, left: str) -> None:
    """Where nothing else is left of a summary the headline stands in for it, and nothing is asked again."""
    whole = factories.commit("Change `work`", [factories.file("part.py", factories.patch("-work = 1", "+work = 2"))])
    said = {"headline": "`work` is two", "summary": summary, **REST, "scope": ["`part.py`", "`absent.py`"]}
    with (
        ScriptedChat(lambda _: json.dumps(said)) as chat,
        closing(ChatModel("scripted", base_url=chat.url, api_key="none")) as model,
    ):
        ranked = rank(whole, (), packaged_weights(REPOSITORY)).model_copy(update={"importance": Importance.MEDIUM})
        analysed = analyse(AnalysisRequest(REPOSITORY, whole, (), ranked, "en"), Asker(model, UsageCounter()))
    assert len(chat.requests) == 1
    assert (analysed.analysis.summary, analysed.analysis.scope, analysed.removed) == (left, ("`part.py`",), 2)


def test_an_analysis_denies_no_fact() -> None:
    """A general denial is compared with the facts, and an identifier with the commit."""
    commit = factories.commit(
        "Clean `cli.py`",
        [
            factories.file(
                "cli.py", factories.patch(" p = ArgumentParser()", '-p.add_argument("--fast-path")', " p.run()")
            )
        ],
    )
    found = facts(commit)
    ranked = rank(commit, found, packaged_weights(REPOSITORY))
    said = "Cleans `cli.py`. There are no breaking changes. This fixes CVE-2025-99999."

    def reply(_: object) -> str:
        return json.dumps({"summary": said, **REST})

    with ScriptedChat(reply) as chat, closing(ChatModel("scripted", base_url=chat.url, api_key="none")) as model:
        analysed = analyse(AnalysisRequest(REPOSITORY, commit, found, ranked, "en"), Asker(model, UsageCounter()))
    assert analysed.analysis.summary == "Cleans `cli.py`."


@pytest.mark.parametrize(
    ("verdicts", "summary", "advice", "removed"),
    [
        ({1: "contradicted", 3: "not_shown"}, "Changes `work`.", (), 2),
        ({9: "not_shown"}, "`part.py` loads. Changes `work`.", ("Callers wait.",), 0),
        ({1: "contradicted", 2: "contradicted"}, None, None, 0),
    ],
)
@pytest.mark.parametrize("tier", [Importance.HIGH, Importance.MEDIUM])
def test_only_what_a_second_reading_confirms_is_kept(
    tier: Importance, verdicts: dict[int, str], summary: str | None, advice: tuple[str, ...], removed: int
) -> None:
    """What it contradicts or does not find is taken out and counted; without a summary nothing of the reply is kept."""
    with ScriptedChat(lambda _: FIRST, scripts={"SecondReading": partial(confirming, but=verdicts)}) as chat:
        analysed = _read_twice(chat, tier)
    assert "3. Callers wait." in chat.others["SecondReading"][0]["messages"][-1]["content"]
    told = analysed and (analysed.analysis.summary, analysed.analysis.advice, analysed.removed)
    assert told == (summary and (summary, advice, removed))


@pytest.mark.parametrize("second", ["no reply at all", json.dumps({"verdicts": []})])
def test_what_was_read_once_is_shown_to_nobody(second: str) -> None:
    """Where the second reading fails, or gives no verdict, nothing of the reply is kept."""
    with ScriptedChat(lambda _: FIRST, scripts={"SecondReading": lambda _: second}) as chat:
        assert _read_twice(chat, Importance.MEDIUM) is None


def _read_twice(chat: ScriptedChat, tier: Importance) -> Analysed | None:
    whole = factories.commit("Change `work`", [factories.file("part.py", factories.patch("-work = 1", "+work = 2"))])
    ranked = rank(whole, (), packaged_weights(REPOSITORY)).model_copy(update={"importance": tier})
    with closing(ChatModel("scripted", base_url=chat.url, api_key="none")) as model, suppress(ModelFailure):
        return analyse(AnalysisRequest(REPOSITORY, whole, (), ranked, "en"), Asker(model, UsageCounter()))
    return None


@pytest.mark.parametrize(("tier", "kept"), [(Importance.HIGH, True), (Importance.MEDIUM, False)])
def test_a_commit_of_high_importance_is_looked_up_first(tier: Importance, *, kept: bool, tmp_path: Path) -> None:
    """The model calls tools before it replies, and may then name what they returned, which its second reading sees as well."""
    told = "`Worker.pick_all` calls it."

    def say(request: dict[str, Any]) -> Said:
        calls = Calls([("read_file", {"path": "engine/worker.py"})])
        return calls if "tools" in request else json.dumps({"summary": f"Changes `pick`. {told}", **REST})

    with ExitStack() as ending:
        reading = ReadingModel(tmp_path, ending)
        reading.chat.say = say
        ranked = rank(reading.commit, ()).model_copy(update={"importance": tier})
        request = AnalysisRequest(REPOSITORY, reading.commit, (), ranked, "en", tools=reading.tools())
        analysed = analyse(request, Asker(reading.model, UsageCounter()))
        second = str(reading.chat.others["SecondReading"][0]["messages"])
    assert (told in analysed.analysis.summary, "return [pick(lane)" in second) == (kept, kept)
