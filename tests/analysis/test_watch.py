"""What a channel watches, and where a commit touches it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.diff import changed_lines
from analysis.errors import Misuse
from analysis.models import FileChange
from analysis.watch import parse_watch, touches
from tests.factories import commit, file, new_file, patch

LLM = "vllm/entrypoints/llm.py"


def places(term: str, *files: FileChange) -> list[str]:
    return [each.place for each in touches(commit(files=files), [term])]


def within(heading: str, *lines: str, path: str = LLM) -> FileChange:
    """A file whose one hunk begins at line 10, within what git names in its header."""
    header, *rest = patch(*lines, old=10, new=10).split("\n")
    return file(path, "\n".join([f"{header} {heading}", *rest]))


# What is written


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (
            "vllm/v1/worker, VLLM_ATTENTION_BACKEND, LLM.generate, --enforce-eager",
            ("vllm/v1/worker", "VLLM_ATTENTION_BACKEND", "LLM.generate", "--enforce-eager"),
        ),
        ("LLM,LLM, LLM,", ("LLM",)),
        ("LLM，csrc、*.cu", ("LLM", "csrc", "*.cu")),
        ("—enforce-eager", ("--enforce-eager",)),
        ("http://envs.py", ("envs.py",)),
        ("`csrc/**`, *.cu", ("csrc/**", "*.cu")),
        ("/v1/completions, vllm:num_requests_running", ("/v1/completions", "vllm:num_requests_running")),
        ("", ()),
    ],
)
def test_terms_are_read_as_they_were_meant(text: str, terms: tuple[str, ...]) -> None:
    """Commas part terms; a repeated one counts once, and what Slack made of dashes, file names and code is undone."""
    assert parse_watch(text) == terms


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "'x' is too short"),
        ("LLM, tp", "'tp' is too short"),
        ("--x", "'--x' is too short"),
        ("/", "'/' is too short"),
        ("**", "matches every file"),
        ("*", "matches every file"),
        ("a b c", "cannot be watched"),
        ("!vllm/", "cannot be watched"),
        ("#123", "cannot be watched"),
        ("a" * 201, "cannot be watched"),
        ("vllm/[z-a].py", "is not a valid path"),
        ("vllm/(a+)+$", "is not a valid path"),
        (",".join(f"NAME_{number}" for number in range(21)), "21 watched terms are too many"),
    ],
)
def test_a_term_that_cannot_be_watched_is_named(text: str, why: str) -> None:
    """Too short, too wide, too long or too many: the error says which term and why."""
    with pytest.raises(Misuse, match=why.replace("*", r"\*")):
        parse_watch(text)


# Paths

WORKER = file("vllm/v1/worker/gpu_worker.py", patch(" a", "-b", "+c", old=7, new=7))


@pytest.mark.parametrize(
    ("term", "touched"),
    [
        ("vllm/v1/worker", True),
        ("vllm/v1/worker/", True),
        ("vllm/v1/worker/gpu_worker.py", True),
        ("vllm/v1/work", False),
        ("v1/worker", False),
        ("*.py", True),
        ("vllm/**/gpu_*.py", True),
        ("*.cu", False),
        ("gpu_worker.py", True),
        ("vllm", True),
        ("worker", False),
    ],
)
def test_a_path_is_touched_by_what_lies_in_it(term: str, touched: bool) -> None:
    """Folders, files and patterns name what they do in a .gitignore; a bare word is a whole file name, or a folder at the root."""
    assert places(term, WORKER) == (["vllm/v1/worker/gpu_worker.py:8"] if touched else [])


def test_a_path_is_touched_by_what_leaves_it() -> None:
    """A file that moves out of a watched folder touches it; without a patch it is named without a line."""
    assert places("old/place", file("new/a.py", was="old/place/a.py", status="renamed")) == ["new/a.py"]


def test_a_touch_leads_to_its_line() -> None:
    """The address is that of the line in the commit's diff, on the side on which it stands."""
    (gone,) = touches(commit(files=[WORKER]), ["vllm/v1/worker"])
    assert gone.url.startswith("https://github.com/acme/engine/commit/0123")
    assert gone.url.endswith("L8")
    (come,) = touches(commit(files=[new_file("csrc/a.cu", "x")]), ["csrc"])
    assert come.url.endswith("R1")


# Names


@pytest.mark.parametrize(
    ("term", "line", "touched"),
    [
        ("VLLM_USE_V1", 'if os.environ["VLLM_USE_V1"]:', True),
        ("VLLM_USE_V1", "VLLM_USE_V10 = MY_VLLM_USE_V1", False),
        ("VLLM_USE_V1", "vllm_use_v1 = 1", False),
        ("--enforce-eager", '    parser.add_argument("--enforce-eager")', True),
        ("--enforce-eager", '    parser.add_argument("--enforce-eager-mode")', False),
        ("--enforce-eager", '    parser.add_argument("--no--enforce-eager")', False),
        ("--enforce-eager", "    enforce_eager: bool = False", True),
        ("--enforce-eager", "    if config.enforce_eager:", False),
        ("LLM.generate", "outputs = LLM.generate(prompts)", True),
        ("LLM.generate", "outputs = vllm.LLM.generate", True),
        ("LLM.generate", "outputs = MyLLM.generate(LLM.generated)", False),
        ("LLM.generate", "outputs = llm.generate(prompts)", False),
        ("/v1/completions", '@router.post("/v1/completions")', True),
        ("/v1/completions", '@router.post("/v1/completions_x")', False),
        ("torch::Tensor", "torch::Tensor out;", True),
    ],
)
def test_a_name_is_touched_by_a_changed_line_that_says_it(term: str, line: str, touched: bool) -> None:
    """Whole names count, added or removed; what only contains the name, and lines that stay, do not."""
    for sign in "+-":
        assert bool(places(term, file(LLM, patch(" keep", sign + line)))) is touched
    assert places(term, file(LLM, patch(f" {line}", "+other"))) == []


@pytest.mark.parametrize("path", ["tests/test_llm.py", "docs/envs.md", "examples/offline.py", ".buildkite/run.sh"])
def test_what_tests_and_documentation_say_touches_nothing(path: str) -> None:
    """A name that only tests, documentation, examples or CI say is not touched; their paths can be watched as such."""
    said = new_file(path, "VLLM_USE_V1=1")
    assert places("VLLM_USE_V1", said) == []
    assert places(path, said) == [f"{path}:1"]


CLASS = ("class LLM:", "    def generate(", "        self,")


@pytest.mark.parametrize(
    ("heading", "lines", "found"),
    [
        ("class LLM:", (" ", "-    def generate(self):", "+    def generate(self, x):"), [f"{LLM}:11"]),
        (
            "class LLM:",
            ("     def generate(", "         self,", "+        priority,", "     ) -> None:"),
            [f"{LLM}:12"],
        ),
        ("class LLM:", ("     def generate(", "         self,", "     ) -> None:", "+        run()"), [f"{LLM}:13"]),
        ("class LLM:", ("     def generate(self):", "         run()", "+    def chat(self):"), []),
        ("class Other:", ("-    def generate(self):",), []),
        ("", (*(f" {line}" for line in CLASS), "+        priority,"), [f"{LLM}:13"]),
        ("class LLM:", (" def helper():", "+    def generate():"), []),
        ("class LLM:", ("         one = 1", "+        two = 2"), []),
    ],
)
def test_a_method_is_touched_within_its_class(heading: str, lines: tuple[str, ...], found: list[str]) -> None:
    """`LLM.generate` is the definition of `generate` in the class, its parameters and its body, told by indentation."""
    assert places("LLM.generate", within(heading, *lines)) == found
    assert places("vllm.LLM.generate", within(heading, *lines)) == found


def test_a_function_that_git_names_ends_with_the_next() -> None:
    """Of a hunk within `generate` the lines count up to the next function, however deep git's heading lies."""
    body = within("def generate(self):", "         one = 1", "+        two = 2")
    assert places("generate", body) == [f"{LLM}:11"]
    after = within("def generate(self):", "         one = 1", " ", "     def chat(self):", "+        two = 2")
    assert places("generate", after) == []


def test_a_type_that_git_names_goes_on_past_its_methods() -> None:
    """Of a hunk within a struct or a class every method counts, whichever comes first."""
    for heading in ("class Cache:", "struct Cache {"):
        body = within(
            heading, "     def get(self):", "         one = 1", " ", "     def put(self):", "+        two = 2"
        )
        assert places("Cache", body) == places("Cache.put", body) == [f"{LLM}:14"]


def test_the_place_that_tells_most_is_given() -> None:
    """A definition and its parameters come before what lies within, that before a mention; what is there before what is gone."""
    mention = new_file("a.py", "print(VLLM_USE_V1)")
    definition = file("b.py", patch('-    "VLLM_USE_V1": lambda: 0,', '+    "VLLM_USE_V1": lambda: 1,'))
    assert places("VLLM_USE_V1", mention, definition) == ["b.py:1"]
    (found,) = touches(commit(files=[mention, definition]), ["VLLM_USE_V1"])
    assert found.url.endswith("R1")
    header = " def generate("
    said = new_file("vllm/a.py", "# see generate")
    body = file("vllm/b.py", patch(header, "     self,", " ):", "+    run()"))
    parameter = file("vllm/c.py", patch(header, "+    priority,", " ):", "-    run()"))
    assert places("generate", said, body) == ["vllm/b.py:4"]
    assert places("generate", said, body, parameter) == ["vllm/c.py:2"]


def test_every_term_is_told_once_in_its_order() -> None:
    """Each term that is touched has one place, in the order in which they are watched."""
    made = commit(files=[WORKER, new_file("a.py", "VLLM_USE_V1", "VLLM_USE_V1")])
    found = touches(made, ["VLLM_USE_V1", "NOT_THERE", "vllm/v1/worker"])
    assert [(each.term, each.place) for each in found] == [
        ("VLLM_USE_V1", "a.py:1"),
        ("vllm/v1/worker", "vllm/v1/worker/gpu_worker.py:8"),
    ]


TEXT = st.text(st.sampled_from("abLMg_-./*:,[]()! \t#é\n"), max_size=12)
LINES = st.lists(
    st.builds(
        lambda sign, indent, text: sign + indent + text,
        st.sampled_from("+- "),
        st.sampled_from(["", "    ", "\t"]),
        st.one_of(st.sampled_from(["class LLM:", "def abL(self):", "LLM.abL", "--abL: 1", ")", ""]), TEXT).map(
            lambda text: " ".join(text.split("\n"))
        ),
    ),
    min_size=1,
    max_size=8,
)


@given(
    st.one_of(st.sampled_from(["LLM", "LLM.abL", "abL", "--abL", "*.py"]), TEXT),
    st.lists(st.tuples(st.sampled_from(["a.py", "ab/L.cu", "tests/a.py", "x"]), LINES), max_size=3),
)
def test_whatever_is_watched_a_touch_is_a_changed_line(text: str, changed: list[tuple[str, list[str]]]) -> None:
    """Any terms and any patches: what cannot be watched is `Misuse`, and every line that is told is a changed one."""
    try:
        terms = parse_watch(text)
    except Misuse:
        return
    made = commit(files=[file(path, patch(*lines)) for path, lines in dict(changed).items()])
    for touch in touches(made, terms):
        assert touch.term in terms
        lines = [line.number for each in made.files if each.path == touch.path for line in changed_lines(each)]
        assert touch.line in lines or (touch.line is None and not lines)
