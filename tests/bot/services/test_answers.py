"""The answer service: which questions a model gets tools for, what they reach, and what its calls may cost."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from analysis.llm import ChatModel
from analysis.models import Citation, Commit, Repository, Statement
from analysis.questions.question import Question, parse_question
from analysis.sources.github import GitHub
from bot.services.answers import AnswerService
from bot.services.commit_sources import CommitSources
from bot.services.limits import MeteredModel
from bot.store import Store, open_engine
from tests.factories import commit, entry, file, patch
from tests.servers.chat import Calls, Said, ScriptedChat
from tests.servers.mirrored import REPOSITORY, Place

NOW = datetime(2026, 2, 6, 9, tzinfo=UTC)
PRIVATE = Repository.parse("o/private")
HIDDEN = commit("Change the lanes in private", [file("lanes.py", patch("-a", "+b"))], sha="ab" * 20)
SHOWN = commit("Change the lanes in public", [file("lanes.py", patch("-a", "+b"))], sha="cd" * 20)


class Asked:
    """A service on a store, a mirrored repository and a model that searches commits before it answers."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.place = Place(folder, ending)
        self.store = ending.enter_context(closing(Store(open_engine(f"sqlite:///{folder / 'digest.db'}"))))
        for repository, each in ((REPOSITORY, SHOWN), (PRIVATE, HIDDEN)):
            self.store.save_commit(repository, each, ())
        self.chat = ending.enter_context(ScriptedChat(self._say))
        self._ending = ending

    def _say(self, request: dict[str, Any]) -> Said:
        if "tools" in request and request["messages"][-1]["role"] == "user":
            return Calls([("commits", {"query": "lanes"}), ("read_file", {"path": "b.py"})])
        return "`two` replaces `one` [a.py:1]."

    def service(self, *, mirrored: bool = True, poor: bool = False) -> AnswerService:
        """Return a service with a model without a price, or with one of a price and no budget."""
        github = self._ending.enter_context(closing(GitHub(self.place.server.url, None, retries=0)))
        mirrors = self.place.mirrors()
        if mirrored:
            mirrors.updated(REPOSITORY, create=True)
        name, url = ("gpt-4o", None) if poor else ("scripted", self.chat.url)
        chat = self._ending.enter_context(closing(ChatModel(name, base_url=url, api_key="key", retries=0)))
        model = MeteredModel(chat, self.store.spending, lambda: NOW, at_once=1, daily_usd=0.0 if poor else 2.0)
        self.chat.requests.clear()
        return AnswerService(CommitSources(github, mirrors), self.store, model)

    def ask(self, *commits: Commit, mirrored: bool = True, poor: bool = False) -> list[Statement]:
        """Ask about some commits."""
        about = Question(parse_question("what of one?"), REPOSITORY, tuple(map(entry, commits)))
        return list(self.service(mirrored=mirrored, poor=poor).answer(about, "en"))


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    with ExitStack() as ending:
        yield Asked(tmp_path, ending)


def test_a_question_about_a_mirrored_commit_gets_tools(asked: Asked) -> None:
    """Each call of the model takes a slot of its own, and the search knows the commits of that repository alone."""
    with asked.place.cloned() as mirror:
        told = mirror.read_commit(asked.place.second)
    statements = asked.ask(told)
    assert [each.text for each in statements] == ["`two` replaces `one`."]
    first, second = asked.chat.requests
    assert first["tool_choice"] == "auto"
    results = [each["content"] for each in second["messages"] if each["role"] == "tool"]
    assert "cdcdcdc 2026-02-05 Ada | Change the lanes in public" in results[0]
    assert "1 | b" in results[1]
    assert "private" not in str(asked.chat.requests)


def test_without_a_mirror_the_evidence_is_alone(asked: Asked) -> None:
    """Questions about several commits get tools as well; without a mirror none is offered."""
    with asked.place.cloned() as mirror:
        told, other = mirror.read_commit(asked.place.second), mirror.read_commit(asked.place.first)
    asked.ask(told, other)
    assert all("tools" in each for each in asked.chat.requests)
    for path in sorted(asked.place.mirror_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    asked.place.mirror_path.rmdir()
    statements = asked.ask(told, mirrored=False)
    assert ["tools" in each for each in asked.chat.requests] == [False]
    assert [each.text for each in statements] == ["`two` replaces `one`."]


def test_a_budget_that_is_used_up_leaves_the_rules(asked: Asked) -> None:
    """No call is made that the day's budget does not cover, and the rules answer."""
    with asked.place.cloned() as mirror:
        told = mirror.read_commit(asked.place.second)
    statements = asked.ask(told, poor=True)
    assert asked.chat.requests == []
    assert statements[0].text == "The commit's title is `Change something`."


def test_what_rules_found_is_told_to_the_model_and_stands_without_it(asked: Asked) -> None:
    """A question of which rules found no commit is answered with tools as of the head; their words can be cited, and are the answer if the model fails."""
    place = Citation(label="b.py:1", url="https://github.example/b")
    found = [Statement(text="`b` stands here.", citations=(place,))]
    about = Question(parse_question("where is b?"), REPOSITORY, (), ())
    asked.chat.say = lambda _: "It stands in `b.py` [b.py:1]."
    told = list(asked.service().answer_from(about, "en", found))
    assert [(each.text, each.citations) for each in told] == [("It stands in `b.py`.", (place,))]
    assert "- `b` stands here. [b.py:1]" in str(asked.chat.requests[0]["messages"][1]["content"])
    assert "tools" in asked.chat.requests[0]
    asked.chat.say = lambda _: "It stands in `never_there` [c.py:1]."
    assert list(asked.service().answer_from(about, "en", found)) == found
