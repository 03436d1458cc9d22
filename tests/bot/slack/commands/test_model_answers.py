"""What a model writes, as people in Slack see it: the analysis of a commit, and answers that it and the rules give."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Insight
from loopback.git.history import with_git_shas
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.chat import Calls, Refusal, Said, ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.plugin import added
from tests.servers.talk import ADA, Talk, links, markdown, told

ROWS = "".join(f"lane_{number} = {number}\n" for number in range(40))
# After it line 9 is `lane_14`; the context line of the hunk that was the ninth is now the third.
SHORTER = "@@ -1,9 +1,3 @@\n" + "".join(f"{'-' if n < 6 else ' '}lane_{n} = {n}\n" for n in range(9)).rstrip()
SUMMARY = "Drops six lanes from `engine/lanes.py`. Walruses may rebuild."


@pytest.fixture
def github() -> Any:
    begun = recorded(1, message="Begin (#1)", date="2026-02-03T12:00:00+00:00", files=[added("engine/lanes.py", ROWS)])
    file = {"filename": "engine/lanes.py", "status": "modified", "additions": 0, "deletions": 6, "patch": SHORTER}
    fewer = recorded(2, message="Drop lanes (#2)", files=[file], pull=None)
    with FaultyGitHub({"o/n": RecordedRepository(with_git_shas([begun, fewer]))}) as server:
        yield server


def say(request: dict[str, Any]) -> Said:
    if "response_format" in request:
        rest = {"scope": [], "advice": [], "insight": Insight().model_dump(), "risks": []}
        summary = f"{SUMMARY} It calls `absent_name`."
        return json.dumps({"summary": summary, **rest, "move": "keep", "move_reason": ""})
    if "walruses" in request["messages"][1]["content"].rpartition("Question")[2]:
        return Refusal(400, "no")
    if request["messages"][-1]["role"] == "user":
        return Calls([("read_file", {"path": "engine/lanes.py"})])
    return "`lane_14` stays as it is [engine/lanes.py:9]."


def test_a_model_is_asked_once_cites_what_it_read_and_is_no_evidence(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path
) -> None:
    """One doubtful sentence costs no second call; a line read on the new side is linked there; rules quote no analysis."""
    with (
        ScriptedChat(say) as chat,
        Talk(
            slack,
            github.url,
            tmp_path,
            digest_mirrors=tmp_path / "mirrors",
            digest_model="scripted",
            openai_base_url=chat.url,
            openai_api_key="sk-x",
        ) as talk,
    ):
        _, sha = github.repositories["o/n"].commits
        talk.type(ADA, "2026-02-05")  # which makes a mirror
        root = talk.open(sha)
        analysed = [each for each in chat.requests if "response_format" in each]
        assert len(analysed) == 1
        shown = slack.thread("C0DIGEST", root)[0]
        assert "Walruses may rebuild." in json.dumps(shown.blocks)
        assert "absent_name" not in json.dumps(shown.blocks)
        answer = talk.reply(ADA, "is lane_14 still there?", root)
        (place,) = links(markdown(answer))
        assert place[0].startswith("engine/lanes.py:9")
        assert place[1].endswith(f"/blob/{sha}/engine/lanes.py#L9")
        by_rules = told(talk.reply(ADA, "do walruses have to rebuild?", root))
        assert "nor the message mentions walruses" in by_rules
        assert "a model says: Drops six lanes" in by_rules
