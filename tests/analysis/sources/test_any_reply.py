"""GitHub's replies with odd parts: read, or refused in our words."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import DigestError
from analysis.models import Commit, Repository
from analysis.sources.github import GitHub
from analysis.window import window
from tests.servers.github import Fault, FaultyGitHub
from tests.strategies import commits, examples, mutated

REPOSITORY, SHA = Repository.parse("o/n"), "a" * 40
AT = "2026-02-05T12:00:00Z"
WINDOW = window(date(2026, 2, 5), ZoneInfo("UTC"))
PERSON = {"name": "Ada", "date": AT}
LISTED = {
    "sha": SHA,
    "html_url": f"https://github.example/o/n/commit/{SHA}",
    "parents": [{"sha": "b" * 40}],
    "commit": {"author": PERSON, "committer": PERSON, "message": "[Core] Do it (#1)"},
}
FILE = {"filename": "a.py", "status": "modified", "additions": 1, "deletions": 0, "patch": "@@ -0,0 +1 @@\n+x = 1"}
PULL = {"number": 1, "title": "Do it", "body": "Slow.", "merge_commit_sha": SHA, "merged": True}
RELEASE = {"tag_name": "v1", "body": "", "html_url": "", "published_at": AT, "draft": False, "prerelease": False}
RATE = {"limit": 60, "remaining": 50, "reset": 1_770_000_000}
SHOWN = {"full_name": "o/n", "private": False, "html_url": "", "clone_url": "", "default_branch": "main", "size": 1}
# What is asked, by its name, and a reply that is as it should be.
ASKED: dict[str, tuple[Callable[[GitHub], object], Any]] = {
    "list": (lambda at: at.list_commits(REPOSITORY, WINDOW), [LISTED]),
    "commit": (lambda at: at.read_commit(REPOSITORY, SHA), {**LISTED, "stats": {"additions": 1, "deletions": 0}, "files": [FILE]}),
    "pull": (lambda at: at.pull_request(REPOSITORY, SHA), [PULL]),
    "merged": (lambda at: at.pull_state(REPOSITORY, 1), PULL),
    "releases": (lambda at: at.releases(REPOSITORY), [RELEASE]),
    "compare": (lambda at: at.compare(REPOSITORY, "b" * 40, SHA), {"status": "ahead", "commits": [LISTED], "merge_base_commit": {"sha": SHA}}),
    "name": (lambda at: at.canonical_name(REPOSITORY), SHOWN),
    "clone": (lambda at: at.described(REPOSITORY), SHOWN),
    "head": (lambda at: at.head(REPOSITORY), [LISTED]),
    "allowance": (lambda at: at.allowance(), {"resources": {"core": RATE}}),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({}) as running:
        yield running


@pytest.fixture(scope="module")
def github(server: FaultyGitHub) -> Iterator[GitHub]:
    with closing(GitHub(server.url, "token", retries=0, max_wait=0)) as door:
        yield door


@pytest.mark.parametrize("name", ASKED)
@examples(4)
@given(data=st.data())
def test_an_odd_reply_is_read_or_refused(name: str, data: st.DataObject, server: FaultyGitHub, github: GitHub) -> None:
    """Whatever a part of a reply is, the call returns or raises an error of ours; a name that is returned is one."""
    ask, good = ASKED[name]
    reply = data.draw(mutated(good))
    status = data.draw(st.sampled_from([200, 200, 200, 200, 201, 304, 403, 404, 409, 422, 451]))
    server.faults = [Fault("", status, 9, body=reply)]
    found = None
    with suppress(DigestError):
        found = ask(github)
    if isinstance(found, Repository):
        assert Repository.parse(str(found)) == found


@pytest.mark.parametrize("name", ASKED)
def test_a_whole_reply_is_read(name: str, server: FaultyGitHub, github: GitHub) -> None:
    """What the odd replies are made of is read, and brings something."""
    ask, good = ASKED[name]
    server.faults = [Fault("/pulls$", 200, 9, body=[PULL]), Fault("", 200, 9, body=good)]
    assert ask(github)


@examples(8)
@given(told=commits(AT))
def test_any_commit_is_read_as_it_was_told(told: dict[str, Any], server: FaultyGitHub, github: GitHub) -> None:
    """A commit of any texts is read, can be stored as UTF-8, and has every file and the pull request."""
    commit = {"author": told["author"], "committer": told["committer"], "message": told["message"]}
    files = [{**each, "patch": each["patch"]} for each in told["files"]]
    page = {**LISTED, "sha": told["sha"], "commit": commit, "files": files, "stats": {"additions": 1, "deletions": 0}}
    server.faults = [
        Fault("/pulls$", 200, 1, body=[told["pull"]] if told["pull"] else []),
        Fault("", 200, 9, body=page),
    ]
    server.faults.sort(key=lambda each: not each.match)
    found = github.read_commit(REPOSITORY, told["sha"])
    assert Commit.model_validate_json(found.model_dump_json().encode()) == found
    assert found.committed_at == datetime(2026, 2, 5, 12, tzinfo=UTC)
    assert len(found.files) == len(told["files"])
    assert (found.pull is None) is (told["pull"] is None)
