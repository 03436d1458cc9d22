"""The same question in a thread, by mention, in a direct message, in the shell and over MCP gets one answer."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback.slack import LoopbackSlack
from tests.conftest import Run
from tests.servers.github import FaultyGitHub
from tests.servers.mcp_clients import OverStdio, called, value_of
from tests.servers.plugin import plugin, upstream
from tests.servers.running import bot_database
from tests.servers.talk import ADA, BOT, Talk, told

_, DOCS, START, _ = upstream().commits  # SHAs


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": upstream(), "o/plug": plugin()}) as server:
        yield server


@pytest.mark.parametrize("question", ["what was removed?", "does it touch `zyzzyva_9`?", "这个提交有测试吗？"])
def test_a_question_about_a_commit_gets_one_answer_everywhere(
    question: str, slack: LoopbackSlack, github: FaultyGitHub, run: Run, tmp_path: Path
) -> None:
    """Whatever is asked of a commit, its thread, a mention, a direct message, the shell and an agent's tool say the same first."""
    shell = run("ask", START, question, server=github, DIGEST_MIRRORS="").out.split("\n", 1)[0]
    (agent := tmp_path / "agent").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")},
        "PYTHONPATH": str(Path(__file__).parents[4]),
        "DATABASE_URL": bot_database(agent),
        "GITHUB_API_URL": github.url,
        "DIGEST_REPOS": "o/n",
        "DIGEST_MIRRORS": "",
        "DIGEST_LANGUAGE": "en",
    }
    [result] = called(OverStdio(agent, environment), ("ask", {"question": question, "reference": START}))
    first = value_of(result)["statements"][0]["text"]
    with Talk(slack, github.url, tmp_path) as talk:
        answers = [
            talk.reply(ADA, question, talk.open(START)),
            talk.reply(ADA, f"{BOT} {START[:9]} {question}"),
            talk.reply(ADA, f"{START[:9]} {question}", channel=talk.direct(ADA)),
        ]
    assert all(_bare(first) in _bare(each) for each in (shell, *map(told, answers)))


def _bare(text: str) -> str:
    """Return the letters and digits of a text, whatever marks a surface puts between them."""
    return "".join(filter(str.isalnum, text))
