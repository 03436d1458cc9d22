"""Questions whether a commit breaks the code of those who ask, in its thread."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback.slack import LoopbackSlack
from tests.servers.chat import Calls, Said, ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.plugin import PLUGIN, plugin, upstream
from tests.servers.talk import ADA, BOT, Talk, links, markdown, told

_, DOCS, START, _ = upstream().commits  # SHAs
MARK = "planted_0451"
CODE = {path: text.replace("start(model,", f'start("{MARK}",') for path, text in PLUGIN.items()}


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": upstream(), "o/plug": plugin(CODE)}) as server:
        yield server


def test_whether_a_commit_breaks_us_is_answered_from_the_code(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path
) -> None:
    """With a downstream repository the answer has the places on both sides, or says what a denial was checked against; without
    one it says how to name it.
    """
    with Talk(slack, github.url, tmp_path, digest_mirrors=tmp_path / "mirrors") as talk:
        start = talk.open(START)
        unnamed = told(talk.reply(ADA, "does this break our code?", start))
        assert "add its repository with subscribe o/n downstream owner/name" in unnamed
        talk.type(ADA, "subscribe downstream o/plug")
        answer = talk.reply(ADA, "does this break us?", start)
        assert "this breaks o/plug in 1 place:" in told(answer)
        assert f'start("{MARK}", eager=True)' in told(answer)
        assert [label for label, _ in links(markdown(answer))] == ["plug/run.py:10", "engine/core.py:1"]
        assert "这" not in told(answer)
        assert "破坏 o/plug 的 1 处" in told(talk.reply(ADA, "影响我们吗", start))
        assert "this breaks o/plug in 1 place:" in told(talk.reply(ADA, "what do we have to change?", start))
        docs = told(talk.reply(ADA, "does this break us?", talk.open(DOCS)))
        assert docs.startswith("Nothing is proven to break: ")
        assert re.search(r"1 file, \d+ uses of engine in o/plug \(\w{7}\) compared with 1 commit", docs)
        lines = told(talk.reply(ADA, f"{BOT} do we still use `start`?"))
        assert lines.index("start is there at") < lines.index("In o/plug:") < lines.index("plug/run.py (")
        assert MARK in lines
        day = told(talk.reply(ADA, "<@U0BOT> are we affected?", talk.open("2026-02-05")))
        assert "2 of 3 commits break o/plug, in 2 places:" in day
        named = talk.reply(ADA, f"{BOT} does anything break plug since 2026-02-03?")
        assert "from 2026-02-03 to 2026-02-06" in told(named)
        assert "2 of 4 commits break o/plug, in 2 places:" in told(named)


@pytest.mark.parametrize(("private", "told_of"), [("", True), ("o/plug=C0DIGEST", True), ("o/plug=C0OTHER", False)])
def test_a_configured_plug_in_may_be_named_where_it_may_be_seen(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path, private: str, told_of: bool
) -> None:
    """What breaks it is told; where DIGEST_PRIVATE hides it, its name is a word like any other."""
    mirrors = tmp_path / "mirrors"
    with Talk(
        slack, github.url, tmp_path, digest_downstream="o/plug", digest_private=private, digest_mirrors=mirrors
    ) as talk:
        for question in ("does anything break plug on 2026-02-05?", "2026-02-05 有没有提交会破坏 `o/plug`？"):
            answer = told(talk.reply(ADA, f"{BOT} {question}"))
            assert ("plug/run.py:10" in answer) is told_of


@pytest.mark.parametrize("allowed", [False, True])
def test_private_code_reaches_a_model_only_if_the_operator_allows_it(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path, allowed: bool
) -> None:
    """An answer that shows code of a private plug-in is no part of what a model is told with the next question, unless
    DIGEST_PRIVATE_TO_MODEL is set.
    """
    with (
        ScriptedChat(lambda _: " ") as chat,
        Talk(
            slack,
            github.url,
            tmp_path,
            digest_mirrors=tmp_path / "mirrors",
            digest_private="o/plug=C0DIGEST",
            digest_private_to_model=allowed,
            digest_model="scripted",
            openai_base_url=chat.url,
            openai_api_key="sk-x",
        ) as talk,
    ):
        talk.type(ADA, "subscribe downstream o/plug")
        start = talk.open(START)
        assert MARK in told(talk.reply(ADA, "does this break us?", start))
        asked = len(chat.requests)
        talk.reply(ADA, "which parameter does start lose?", start)
        assert len(chat.requests) > asked
        assert (MARK in json.dumps(chat.requests)) is allowed


def test_a_model_answers_about_our_code_before_what_is_proven(
    slack: LoopbackSlack, github: FaultyGitHub, tmp_path: Path
) -> None:
    """It is told what rules found of code that it may read, looks for more there, and can cite both; the places that break follow its answer."""
    says = "Yes: `plug/run.py` still passes `eager` to `start` [plug/run.py:10], which it imports [plug/run.py:1]."
    looks = Calls(
        [("grep_own_code", {"pattern": "import"}), ("read_own_file", {"path": "plug/run.py", "last_line": 1})]
    )

    def say(request: dict[str, Any]) -> Said:
        is_new = "grep_own_code" in json.dumps(request.get("tools")) and request["messages"][-1]["role"] == "user"
        return looks if is_new else says

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
        talk.type(ADA, "subscribe downstream o/plug")
        answer = talk.reply(ADA, "does this break us?", talk.open(START))
        assert told(answer).startswith("Yes: plug/run.py still passes eager to start")
        assert told(answer).index("this breaks o/plug in 1 place:") > 0
        messages = chat.requests[-1]["messages"]
        assert "plug/run.py:10" in messages[1]["content"]
        found, read = (each["content"] for each in messages if each["role"] == "tool")
        assert "in o/plug:\nplug/run.py:1 | from engine" in found
        assert "\n1 | from engine" in read
        read_there, proven = links(markdown(answer))[:2]
        assert (read_there[0], proven[0]) == ("plug/run.py:1", "plug/run.py:10")
        assert re.search(r"/o/plug/blob/\w{40}/plug/run.py#L1$", read_there[1])
