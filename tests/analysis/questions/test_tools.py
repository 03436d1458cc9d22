"""Tools of a model that answers a question about a commit: what they read, their limits, and servers without them."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from threading import Barrier
from typing import Any

import pytest

from analysis.diff import tokens
from analysis.errors import ModelFailure
from analysis.models import Commit
from analysis.questions.tools import MAX_CALLS, MAX_TOKENS
from tests.planted import planted
from tests.servers.chat import Calls, Refusal, Said
from tests.servers.reading_model import WORKER, ReadingModel, Stored, reading

TRUE = "`best_of` is called now [engine/scheduler.py:5]."
ELSEWHERE = "`pick_all` calls `pick` for each lane [engine/worker.py:8]."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadingModel]:
    with ExitStack() as ending:
        yield ReadingModel(tmp_path_factory.mktemp("tools"), ending)


@pytest.fixture
def asked(model: ReadingModel) -> Iterator[ReadingModel]:
    """The same, as if nothing had been asked."""
    with closing(model.new_model()) as model.model:
        yield model


def test_what_a_tool_read_is_cited_in_the_repository(asked: ReadingModel) -> None:
    """A statement about a file that the commit did not change is kept, with a link to its line as of the commit."""
    statements, answering = asked.ask(reading("engine/worker.py"), ELSEWHERE)
    assert (answering.by, answering.dropped) == ("model", 0)
    (place,) = statements[0].citations
    assert (place.label, place.place) == ("engine/worker.py:8", "repository")
    assert place.url == asked.commit.url.replace("/commit/", "/blob/") + "/engine/worker.py#L8"
    numbered = "\n".join(f"{number} | {line}" for number, line in enumerate(WORKER.decode().splitlines(), 1))
    assert asked.results() == [f"engine/worker.py, lines 1 to 8 of 8\n{numbered}"]


def test_an_answer_says_where_each_citation_stands(asked: ReadingModel) -> None:
    """A citation is marked where it does not stand in the diff: in the message, or elsewhere in the repository."""
    statements, _ = asked.ask(
        reading("engine/worker.py"), f"{TRUE} {ELSEWHERE} `Batches` were slow [{asked.commit.short_sha}]."
    )
    assert [place.place for each in statements for place in each.citations] == ["", "repository", "commit message"]
    statements, _ = asked.ask(
        reading("engine/worker.py"), "`pick_all` 对每个通道调用 `pick`[engine/worker.py:8]。", language="zh"
    )
    assert [place.place for place in statements[0].citations] == ["仓库"]


def test_found_lines_of_files_are_cited(asked: ReadingModel) -> None:
    """A name without a citation is linked to the line that a tool found."""
    statements, _ = asked.ask(
        Calls([("grep", {"pattern": "retries", "path": "engine/worker.py"})]),
        "`retries` stays as it is.",
    )
    assert asked.results() == ["engine/worker.py:5 |     retries = 3"]
    assert [place.label for each in statements for place in each.citations] == ["engine/worker.py:5"]


def test_a_question_that_the_evidence_answers_takes_one_call(asked: ReadingModel) -> None:
    """The evidence of the search is in the first request, so a model that needs no tool answers at once."""
    _, answering = asked.ask(TRUE)
    (request,) = asked.chat.requests
    assert "return best_of(window)" in request["messages"][-1]["content"]
    assert {each["function"]["name"] for each in request["tools"]} == {
        "read_file", "grep", "commits", "show_commit"
    }  # fmt: skip
    assert answering.by == "model"


def test_each_tool_tells_what_it_knows(asked: ReadingModel) -> None:
    """Commits and history are read from the store and the mirror, and can be cited."""
    first = asked.stored.commits[0]
    calls: list[tuple[str, Any]] = [
        ("commits", {"query": "scheduler", "author": "ada", "since": "2026-02-02", "until": "2026-02-02"}),
        ("commits", {"path": "engine/scheduler.py"}),
        ("commits", {"path": "engine/scheduler.py", "symbol": "pick"}),
        ("grep", {"pattern": "retries *= *[0-9]", "regex": True}),
        ("show_commit", {"sha": first.short_sha, "path": "engine/worker.py"}),
    ]
    statements, _ = asked.ask(
        Calls(calls),
        f"It follows the commit that came first [{first.short_sha}], where `pick_all` called it [engine/worker.py:8].",
    )
    row = f"{first.short_sha} 2026-02-02 Ada | Add the scheduler"
    found = asked.results()
    assert found[0] == f"1 commits, newest first:\n{row}"
    assert found[1].splitlines()[0] == "2 commits, newest first:"
    assert found[1].splitlines()[2] == row
    assert found[2].splitlines()[-1] == row
    assert found[3].startswith("engine/worker.py:5 |     retries = 3")
    assert found[4].startswith(f"{row}\nadded engine/worker.py +8 -0\n+ 1 | from engine")
    assert [place.label for place in statements[0].citations] == [first.short_sha, "engine/worker.py:8"]
    assert f"/blob/{first.sha}/" in statements[0].citations[1].url


def test_calls_of_one_reply_run_beside_each_other(asked: ReadingModel) -> None:
    """Three searches that wait for each other all come to an end."""
    together = Barrier(3)

    class Waiting(Stored):
        def search(self, query: str) -> list[Commit]:
            together.wait(10)
            return [each for each in self.commits if each.sha == query]

    stored, asked.stored = asked.stored, Waiting()
    asked.ask(Calls([("commits", {"query": "zebra"})] * 3), TRUE)
    asked.stored = stored
    assert asked.results() == ["Nothing was found."] * 3


def test_six_calls_are_made_at_most(asked: ReadingModel) -> None:
    """The seventh call is refused, and then the model must answer without tools."""
    call = ("read_file", {"path": "README.md"})
    statements, _ = asked.ask(Calls([call] * 4), Calls([call] * 4), TRUE)
    found = asked.results()
    assert sum(each.startswith("README.md, lines") for each in found) == MAX_CALLS
    assert found[6:] == ["No call is left: answer now, from what you have."] * 2
    assert [each["tool_choice"] for each in asked.chat.requests] == ["auto", "auto", "none"]
    assert statements[0].citations
    _, answering = asked.ask(Calls([call]))  # a model that never stops calling
    assert len(asked.chat.requests) == MAX_CALLS + 1
    assert answering.by == "rules"


def test_twelve_thousand_tokens_of_results_are_read_at_most(asked: ReadingModel) -> None:
    """Long files are cut at a line, and only what was shown can be cited."""
    calls = [
        ("read_file", {"path": "engine/long.py", "first_line": n, "last_line": n + 299}) for n in range(1, 1501, 300)
    ]
    statements, _ = asked.ask(
        Calls([*calls, ("grep", {"pattern": "row_"})]), "`row_1400` is the last [engine/long.py:1401]."
    )
    results = [each["content"] for each in asked.chat.requests[-1]["messages"] if each["role"] == "tool"]
    assert MAX_TOKENS * 0.5 < sum(map(tokens, results)) < MAX_TOKENS
    assert all(each.citations == () or each.citations[0].label != "engine/long.py:1401" for each in statements)


def test_a_long_line_or_result_is_cut(asked: ReadingModel) -> None:
    """One result leaves room for others and says that it was cut."""
    wide = asked.bare.commit(
        {"wide.py": b"# " + b"wide " * 200 + b"\n" + b"# more words in each of these lines\n" * 2_000}
    )
    told, asked.commit = asked.commit, asked.commit.model_copy(update={"sha": wide})
    asked.ask(Calls([("read_file", {"path": "wide.py", "last_line": 300})] * 2), TRUE)
    asked.commit = told
    for each in asked.results():
        lines = each.splitlines()
        assert max(map(len, lines)) < 310
        assert tokens(each) < 4_200


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("read_file", {}, "path: Field required"),
        ("read_file", "no JSON", "Invalid JSON"),
        ("read_file", "[1]", "Input should be an object"),
        ("read_file", {"path": "a.py", "first_line": 0}, "greater than or equal to 1"),
        ("read_file", {"path": "a.py", "first_line": 9, "last_line": 2}, "last_line is before first_line"),
        ("read_file", {"path": "README.md", "first_line": 900}, "has only 3 lines"),
        ("read_file", {"path": "README.md", "repository": "o/other"}, "Extra inputs are not permitted"),
        ("read_file", {"path": "README.md", "ref": "main"}, "Extra inputs are not permitted"),
        ("read_file", {"path": "../../etc/passwd"}, "relative to the repository's root"),
        ("read_file", {"path": "/etc/passwd"}, "relative to the repository's root"),
        ("read_file", {"path": "~/.netrc"}, "relative to the repository's root"),
        ("read_file", {"path": "a\u0000b"}, "no control characters"),
        ("read_file", {"path": "engine"}, "no such text file"),
        ("read_file", {"path": "engine/none.py"}, "no such text file"),
        ("read_file", {"path": "link.py"}, "no such text file"),
        ("read_file", {"path": "module"}, "no such text file"),
        ("read_file", {"path": "picture.png"}, "no such text file"),
        ("read_file", {"path": "huge.txt"}, "no such text file"),
        ("read_file", {"path": "HEAD:README.md"}, "no such text file"),
        ("read_file", {"path": "--help"}, "no such text file"),
        ("grep", {"pattern": ""}, "at least 1 character"),
        ("grep", {"pattern": "a" * 300}, "at most 200 characters"),
        ("grep", {"pattern": "(", "regex": True}, "not a POSIX extended expression"),
        ("grep", {"pattern": "pick", "path": "../"}, "relative to the repository's root"),
        ("grep", {"pattern": "pick", "path": ":(exclude)README.md"}, "Nothing was found"),
        ("grep", {"pattern": "--open-files-in-pager=true"}, "Nothing was found"),
        ("grep", {"pattern": "pick", "path": "--untracked"}, "Nothing was found"),
        ("commits", {"query": "x", "repository": "o/other"}, "Extra inputs are not permitted"),
        ("commits", {}, "query, author, a day or path is needed"),
        ("show_commit", {"sha": "abcdef1"}, "There is no such commit here"),
        ("show_commit", {"sha": "main"}, "String should match pattern"),
        ("commits", {"path": "a.py", "symbol": "a b"}, "String should match pattern"),
        ("commits", {"query": "x", "symbol": "x"}, "symbol needs a path"),
        ("commits", {"path": "--all"}, "Nothing was found"),
        ("delete_file", {"path": "README.md"}, "There is no such tool"),
    ],
)  # fmt: skip
def test_a_bad_call_is_told_what_is_wrong(name: str, arguments: object, error: str, asked: ReadingModel) -> None:
    """Arguments that are invalid, or ask for more than files at this commit, are answered with an error and count as a call."""
    asked.ask(Calls([(name, arguments)] * 2), TRUE)
    assert len(asked.chat.requests) == 2
    for each in asked.results():
        assert error in each


def test_no_secret_of_any_kind_is_read_by_a_tool(asked: ReadingModel) -> None:
    """Of a file that holds a secret of each kind no tool returns one."""
    asked.ask(Calls([("read_file", {"path": "engine/planted.env"}), ("grep", {"pattern": "password|key|token"})]), TRUE)
    assert "[REDACTED:20]" in asked.results()[0]
    for kind, (_, secret) in planted().items():
        assert secret not in str(asked.chat.requests), kind


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        Refusal(400, "registry.example/library/small does not support tools"),
        Refusal(400, "Unrecognized request argument supplied: functions"),
        Refusal(404, "No endpoints found that support tool use"),
        Refusal(500, "tools param requires --jinja flag"),
        '<tool_call>{"name": "read_file", "arguments": {"path": "README.md"}}</tool_call>',
        '```json\n{"name": "grep", "arguments": {"pattern": "x"}}\n```',
    ],
)
def test_a_server_without_tools_is_asked_once(refusal: Said, asked: ReadingModel) -> None:
    """A server that refuses tools, or has a model write calls as text, gets the evidence alone, and is not asked again."""

    def say(request: dict[str, Any]) -> Said:
        return refusal if "tools" in request else TRUE

    asked.chat.say = say
    for requests in (2, 1):
        statements, answering = asked.ask()
        assert [each.text for each in statements] == ["`best_of` is called now."]
        assert answering.by == "model"
        assert len(asked.chat.requests) == requests
    assert "The tools read" not in asked.chat.requests[0]["messages"][0]["content"]


def test_a_call_written_as_text_ends_no_tools_that_work(asked: ReadingModel) -> None:
    """A file that has a model write a call cannot take the tools away from other questions."""
    written = '<tool_call>{"name": "read_file"}</tool_call>'
    statements, _ = asked.ask(reading("README.md"), written, TRUE)
    assert [each.text for each in statements] == ["`best_of` is called now."]
    asked.ask(TRUE)
    assert "tools" in asked.chat.requests[0]


@pytest.mark.parametrize("refusal", [Refusal(500, "oops"), Refusal(400, "the context of 300 tools is too long")])
def test_another_error_says_nothing_of_tools(refusal: Refusal, asked: ReadingModel) -> None:
    """A server that fails for another reason is offered tools again."""
    _, answering = asked.ask(refusal)
    assert answering.by == "rules"
    assert asked.model.takes_tools


def test_each_call_of_the_model_is_reserved(asked: ReadingModel) -> None:
    """What a call may cost grows with what tools returned; one that the budget refuses ends in the rules' answer."""
    reserved: list[tuple[int, int]] = []

    @contextmanager
    def reserve(tokens: tuple[int, int]) -> Iterator[None]:
        reserved.append(tokens)
        if len(reserved) > 3:
            raise ModelFailure("no budget")
        yield

    _, answering = asked.ask(reading("engine/long.py"), TRUE, reserve=reserve)
    assert answering.by == "model"
    assert reserved[1][0] > reserved[0][0] + 500
    _, answering = asked.ask(TRUE, reserve=reserve)
    assert (answering.by, str(answering.failure)) == ("rules", "no budget")


def test_a_repository_that_cannot_be_read_is_said_to_be(asked: ReadingModel) -> None:
    """Where git fails, the model is told so, and answers from the evidence."""
    told, asked.commit = asked.commit, asked.commit.model_copy(update={"sha": "e" * 40})
    statements, _ = asked.ask(reading("README.md"), TRUE)
    asked.commit = told
    assert asked.results() == ["The repository cannot be read now."]
    assert statements[0].citations


def test_what_a_model_is_about_to_do_is_not_said(asked: ReadingModel) -> None:
    """Words before a tool call that announce it are not part of the answer."""
    statements, _ = asked.ask(
        Calls(reading("engine/worker.py").calls, text="Let me look at `best_of` [engine/scheduler.py:5]."), ELSEWHERE
    )
    assert [each.text for each in statements] == ["`pick_all` calls `pick` for each lane."]
