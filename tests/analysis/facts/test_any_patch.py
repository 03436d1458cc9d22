"""Facts of patches that nobody would write."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from analysis.diff import changed_lines
from analysis.facts import facts
from analysis.models import Fact, FileChange
from tests.factories import commit, file, patch

PIECES = st.sampled_from(
    [
        "class Pool(ABC):", "class PoolConfig:", "    size: int = 4", "    def take(self, a, b=1) -> int:", "def take(",
        "    a: int,", ") -> None:", '    """', "'''", "@abstractmethod", '@router.post("/v1/x")', "METHODS = [",
        '    "hqx",', "]", "}", ")))", "(((", "    VLLM_X: bool = True", 'add_argument("--x", default=1)', "\\", "#", "",
        "torch==2.9", 'requires-python = ">=3.9"', "message X {", "  bool a = 1;", "self._lock.acquire()", "pickle.loads(x)",
        'Mode = Literal["a1", "b2"]', "def test_x():", "@pytest.mark.skip", "\t\tx = 1", "class", "def", "async def f(:",
    ]
)  # fmt: skip
LINES = st.lists(st.tuples(st.sampled_from("+- "), PIECES | st.text(max_size=40)), max_size=30)
PATHS = st.sampled_from(
    ["a/envs.py", "a/api/protocol.py", "a/config.py", "tests/test_a.py", "pyproject.toml", "CMakeLists.txt", "a/b.proto",
     "docker/Dockerfile", "a/b.go", "a/b.ts", "values.yaml", "include/a.h", "requirements.txt"]
)  # fmt: skip
STATUSES = st.sampled_from(["modified", "added", "removed", "renamed"])
HEADINGS = st.sampled_from(["", "class Pool(ABC):", "def take(", "METHODS = [", "class X("])


@st.composite
def changes(draw: st.DrawFn) -> FileChange:
    lines = [sign + re.sub(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text) for sign, text in draw(LINES)]
    head, _, rest = patch(*lines, old=5, new=7).partition("\n")
    path, status = draw(PATHS), draw(STATUSES)
    text = f"{head} {draw(HEADINGS)}\n{rest}"
    return file(path, text, status=status, was=f"old/{path}" if status == "renamed" else None)


def in_patch(fact: Fact, files: list[FileChange]) -> bool:
    """Whether the fact's line is one of the lines that a file of that path has in its patch."""
    places = {
        number
        for each in files
        if fact.path in (each.path, each.previous_path)
        for line in changed_lines(each)
        for number in (line.old, line.new)
    }
    return fact.line in places


@given(st.lists(changes(), max_size=4))
def test_a_facts_line_lies_in_the_patch(files: list[FileChange]) -> None:
    """Whatever a patch holds, finding facts raises nothing, tells each once, and points at lines that changed."""
    found = facts(commit(files=files))
    assert all(fact.line is None or in_patch(fact, files) for fact in found)
    assert max(Counter((fact.kind, fact.name) for fact in found).values(), default=1) == 1


@given(st.text(), PATHS, STATUSES)
def test_a_patch_that_is_none_proves_nothing(text: str, path: str, status: str) -> None:
    """Any text in a patch's place is taken without a complaint."""
    made = FileChange(path=path, status=status, patch=text)
    assert all(fact.line is None or fact.line >= 0 for fact in facts(commit(files=[made])))
