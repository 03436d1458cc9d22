"""Which commit a traceback, a log or a sentence leads to, and that nothing is said without evidence."""

from datetime import timedelta

import pytest

from analysis.models import Commit
from analysis.search.reports import clues_of, parse_report, upstream_path
from analysis.search.suspects import rank_suspects, telling_lines
from analysis.search.words import IndexedCommit, commit_words
from tests import factories
from tests.conftest import NOON
from tests.factories import file, patch

TRACEBACK = """\
(Worker pid=7) Traceback (most recent call last):
(Worker pid=7)   File "/opt/venv/lib/python3.11/site-packages/engine/core.py", line 870, in start
(Worker pid=7)     self.worker.warm_cache(size)
(Worker pid=7)   File "/home/ada/plugin/worker.py", line 31, in warm_cache
(Worker pid=7)     super().warm_cache(size)
(Worker pid=7) TypeError: Worker.warm_cache() got an unexpected keyword argument 'pool_size'
"""
ELSEWHERE = """\
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/django/db/utils.py", line 90, in execute
    return self.cursor.execute(sql)
django.db.utils.OperationalError: no such table: auth_user
"""


def commit(number: int, title: str, *changed: str, path: str = "engine/other.py") -> Commit:
    at = NOON - timedelta(days=number)
    changed_patch = patch(*changed).replace("@@\n", "@@ def run():\n")
    return factories.commit(title, [file(path, changed_patch)], sha=f"{number:040x}", at=at)


COMMITS = [
    *(
        commit(number, f"Tidy part {number}", f"-old_{number} = 1", f"+new_{number} = execute(cursor)")
        for number in range(20)
    ),
    commit(
        20,
        "Size pools",
        "-    def warm_cache(self, size):",
        "+    def warm_cache(self, pool_size):",
        path="engine/worker.py",
    ),
    commit(21, "Start later", "-start(1)", "+start(2)", path="engine/core.py"),
    commit(80, "Size pools at first", "+    def warm_cache(self, pool_size):", path="engine/worker.py"),
]
DOCUMENTS = [IndexedCommit(number, each.committed_at, *commit_words(each)) for number, each in enumerate(COMMITS)]


def titles(text: str) -> list[str]:
    found = rank_suspects(clues_of(parse_report(text), ["engine"]), DOCUMENTS, NOON)
    return [COMMITS[each.id].title for each in found]


def test_a_traceback_leads_to_the_commit_that_changed_its_names() -> None:
    """What the exception names comes before the files of the frames, and the recent before the old."""
    assert titles(TRACEBACK)[:3] == ["Size pools", "Size pools at first", "Start later"]


def test_a_log_leads_where_its_traceback_does() -> None:
    """Of a long log the lines that report something are read, wherever they are and however often they come."""
    noise = "".join(f"INFO step {number} took {number} ms\n" for number in range(5_000))
    assert titles(noise + TRACEBACK * 50 + noise)[:3] == titles(TRACEBACK)[:3]


@pytest.mark.parametrize(
    "sentence",
    ["`warm_cache` takes a pool_size now", "the pools of the worker are sized otherwise", "warmCache pool size"],
)
def test_a_sentence_leads_to_the_commit_that_it_describes(sentence: str) -> None:
    """Names and words of a sentence find the commit, split or not."""
    assert titles(sentence)[0] == "Size pools"


@pytest.mark.parametrize("text", [ELSEWHERE, "it fails with an error", "!!!", "\x1b[31m\x1b[0m", "the moon is green"])
def test_nothing_is_said_without_evidence(text: str) -> None:
    """A traceback of another project, words of any failure, and words that no commit has lead to none."""
    assert titles(text) == []


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        ("/opt/venv/lib/python3.11/site-packages/engine/core.py", "engine/core.py"),
        ("/root/engine/engine/core.py", "engine/core.py"),
        ("C:\\venv\\Lib\\site-packages\\engine\\core.py", "engine/core.py"),
        ("/opt/venv/lib/python3.11/site-packages/torch/engine/core.py", ""),
        ("/home/ada/plugin/worker.py", ""),
    ],
)
def test_frames_of_installed_packages_are_upstream_paths(shown: str, path: str) -> None:
    """The path of an upstream file is found where it is installed or checked out, and in no other package."""
    assert upstream_path(shown, ["engine"]) == path


OWN = """\
Traceback (most recent call last):
  File "/home/ada/plugin/worker.py", line 31, in start
    {code}
{exception}
"""


@pytest.mark.parametrize(
    ("code", "exception", "found"),
    [
        ("pool.warm_cache(2)", "AttributeError: 'Pool' object has no attribute 'warm_cache'", "Size pools"),
        ("part[2]", "KeyError: 'part'", ""),
        ("size()", "TypeError: size is no function", ""),
        (
            "from engine.core import begin",
            "ImportError: cannot import name 'begin' from 'engine.core' (x)",
            "Start later",
        ),
        ("import engine.core", "ModuleNotFoundError: No module named 'engine.core'", "Start later"),
    ],
)
def test_a_failure_in_own_code_leads_to_names_alone(code: str, exception: str, found: str) -> None:
    """Names of code lead upstream, words and Python's own exceptions do not; a failed import leads to its module's file."""
    assert next(iter(titles(OWN.format(code=code, exception=exception))), "") == found


def test_a_moved_file_is_found_by_its_previous_path() -> None:
    """The words of a commit have both paths of a file that it moves."""
    moved = factories.commit("Tidy", [file("engine/parts/core.py", was="engine/core.py")])
    assert commit_words(moved).paths == "engine/parts/core.py engine/core.py"


def test_the_lines_that_hold_the_names_are_shown() -> None:
    """The changed lines with the most telling name come first, what is gone before what is new."""
    lines = telling_lines(COMMITS[20], ["warm_cache", "size"], 2)
    assert [(each.sign, each.code, each.line, each.name) for each in lines] == [
        ("-", "def warm_cache(self, size):", 1, "warm_cache"),
        ("+", "def warm_cache(self, pool_size):", 1, "warm_cache"),
    ]
