"""What a diff proves, and what it does not."""

from collections.abc import Sequence

import pytest

from analysis.facts import facts
from analysis.facts.links import reverted_sha, reverted_title
from analysis.models import Fact, FactKind, FileChange
from tests.analysis.facts.told import Told, changed, names, told
from tests.factories import commit, file, new_file, patch


def test_a_fact_has_its_place() -> None:
    """What is gone is found at its line in the old file, what has come at its line in the new one."""
    gone = file("vllm/envs.py", patch(" a", "+b", '-    "VLLM_OLD": lambda: 1,', old=10, new=20))
    lines = patch("-    size: int = 1", "+    size: int = 2", old=10, new=20).replace("@@\n", "@@ class Cache:\n")
    come = file("vllm/config.py", lines)
    assert facts(commit(files=[gone, come])) == (
        Fact(kind=FactKind.REMOVED_ENV, name="VLLM_OLD", path="vllm/envs.py", line=11),
        Fact(kind=FactKind.DEFAULT_CHANGED, name="Cache.size", path="vllm/config.py", line=20, old="1", new="2"),
    )


def test_a_commit_without_patches_proves_nothing() -> None:
    """Files that only list their counts, and patches that do not parse, yield no fact."""
    assert facts(commit(files=[file("a.py", None, additions=3), file("b.py", "garbage")])) == ()
    assert facts(commit()) == ()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("vllm/envs.py", '    "VLLM_USE_V1": lambda: bool(int(os.getenv("VLLM_USE_V1", "1"))),'),
        ("vllm/envs.py", "    VLLM_USE_V1: bool = True"),
        ("vllm/envs.py", 'VLLM_USE_V1 = os.environ.get("VLLM_USE_V1")'),
        ("vllm/registry.py", '    "VLLM_USE_V1": lambda: True,'),
        ("vllm/registry.py", '    "VLLM_USE_V1": env_bool(True),'),
    ],
)
def test_a_variable_whose_definition_goes_is_removed(path: str, line: str) -> None:
    """A registered variable, or one defined in a file of variables, is removed with its line."""
    assert told(FactKind.REMOVED_ENV, changed(path, " keep", f"-{line}")) == [("VLLM_USE_V1", None, None)]


@pytest.mark.parametrize(
    "files",
    [
        [changed("vllm/engine.py", '-if os.environ["VLLM_USE_V1"]:')],  # others may still read it
        [changed("vllm/engine.py", "-    VLLM_USE_V1: bool = True")],  # a constant
        [changed("vllm/engine.py", '-    "MAX_SIZE": 1,')],  # a table
        [changed("tests/envs.py", "-    VLLM_USE_V1: bool = True")],
        [changed("docs/envs.md", "-    VLLM_USE_V1: bool = True")],
        [changed("vllm/envs.py", "-    VLLM_USE_V1: bool = True", '+    "VLLM_USE_V1": lambda: True,')],
        [changed("vllm/envs.py", "-    VLLM_USE_V1: bool = True"), new_file("vllm/flags.py", "VLLM_USE_V1 = 1")],
        [changed("vllm/envs.py", "-    VLLM_USE_V1: bool = True", '     "VLLM_USE_V1": lambda: True,')],
    ],
)
def test_a_variable_that_lives_on_is_not_removed(files: Sequence[FileChange]) -> None:
    """Reading a variable, a constant, a test, and what is defined or mentioned again elsewhere prove no removal."""
    assert names(FactKind.REMOVED_ENV, *files) == []


def test_a_variable_that_comes_in_anothers_place_is_its_new_name() -> None:
    """Of two alike names in one hunk, one gone and one come, the first was renamed; unlike ones are two events."""
    alike = changed("vllm/envs.py", "-    VLLM_ATTN_BACKEND: str = 1", "+    VLLM_ATTENTION_BACKEND: str = 1")
    assert told(FactKind.RENAMED_ENV, alike) == [("VLLM_ATTN_BACKEND", None, "VLLM_ATTENTION_BACKEND")]
    assert names(FactKind.REMOVED_ENV, alike) == []
    unlike = changed("vllm/envs.py", "-    VLLM_ATTN_BACKEND: str = 1", "+    MAX_JOBS: int = 1")
    assert names(FactKind.REMOVED_ENV, unlike) == ["VLLM_ATTN_BACKEND"]
    assert names(FactKind.RENAMED_ENV, unlike) == []


@pytest.mark.parametrize(
    "lines",
    [
        ['-    parser.add_argument("--old-flag", type=int)'],
        ["-    parser.add_argument(", '-        "--old-flag",', "-        type=int,", "-    )"],
        ["-@click.option('--old-flag')", " def run(): ..."],
        ['-old: int = typer.Option(1, "--old-flag")'],
    ],
)
def test_a_flag_whose_definition_goes_is_removed(lines: Sequence[str]) -> None:
    """A flag goes with its definition, on one line or on several, whoever parses it."""
    assert told(FactKind.REMOVED_FLAG, changed("vllm/args.py", *lines)) == [("--old-flag", None, None)]


@pytest.mark.parametrize(
    "files",
    [
        [changed("vllm/args.py", '-    print("use --old-flag")')],
        [changed("vllm/args.py", '-    cmd = ["--old-flag"]')],
        [changed("tests/test_args.py", '-    parser.add_argument("--old-flag")')],
        [changed("benchmarks/args.py", '-    parser.add_argument("--old-flag")')],
        [changed("vllm/args.py", '-    parser.add_argument("--old-flag")', "+    parser = Args.add_cli_args(parser)")],
        [changed("vllm/args.py", '-    parser.add_argument("--old-flag")', '+    group.add_argument("--old-flag")')],
        [
            changed("vllm/args.py", '-    parser.add_argument("--old-flag")'),
            new_file("vllm/cli.py", 'add("--old-flag")'),
        ],
        [changed("vllm/args.py", '-    parser.add_argument("--old-flag")', '     group.add_argument("--old-flag")')],
        [
            changed(
                "vllm/args.py",
                '-    parser.add_argument("--no-old-flag")',
                '+    parser.add_argument("--old-flag", action=BooleanOptionalAction)',
            )
        ],
    ],
)
def test_a_flag_that_lives_on_is_not_removed(files: Sequence[FileChange]) -> None:
    """A mention, a test's or benchmark's own flag, and one that is defined again prove no removal."""
    assert names(FactKind.REMOVED_FLAG, *files) == []


def test_a_flag_is_not_saved_by_a_longer_one() -> None:
    """A flag that begins like the removed one is another flag, and if it stands in its place, its new name."""
    lines = ('-    parser.add_argument("--swap")', '+    parser.add_argument("--swap-space")')
    assert told(FactKind.RENAMED_FLAG, changed("vllm/args.py", *lines)) == [("--swap", None, "--swap-space")]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("vllm/engine.py", "def schedule(self):"),
        ("vllm/engine.py", "async def schedule(self):"),
        ("vllm/engine.py", "class schedule(Base):"),
    ],
)
def test_a_public_name_that_goes_is_removed(path: str, line: str) -> None:
    """A function or class at the top of a source file is missed by those who import it."""
    assert told(FactKind.REMOVED_NAME, changed(path, f"-{line}", "-    pass")) == [("schedule", None, None)]


@pytest.mark.parametrize(
    "files",
    [
        [changed("vllm/engine.py", "-def _schedule():")],
        [changed("csrc/engine.h", "-struct schedule {")],
        [changed("vllm/engine.py", "-    def schedule(self):")],
        [changed("vllm/engine.py", "-def test_schedule():")],
        [changed("tests/engine.py", "-def schedule():")],
        [changed("vllm/_engine.py", "-def schedule():")],
        [changed("tools/engine.py", "-def schedule():")],
        [changed(".hidden/engine.py", "-def schedule():")],
        [changed("docs/engine.md", "-def schedule():")],
        [changed("vllm/engine.py", "-def schedule():", "+def schedule(x):")],
        [changed("vllm/engine.py", "-def schedule():", "+from vllm.sched import schedule")],
        [changed("vllm/engine.py", "-def schedule():"), new_file("vllm/sched.py", "def schedule():")],
        [file("vllm/engine.py", patch("-def schedule():") + "\n" + patch(" def schedule():", old=90, new=89))],
    ],
)
def test_a_name_that_lives_on_or_was_not_public_is_not_removed(files: Sequence[FileChange]) -> None:
    """Private names, methods, tests and tools, and what is moved, imported or kept elsewhere in the file are not missed."""
    assert names(FactKind.REMOVED_NAME, *files) == []
    assert names(FactKind.RENAMED_NAME, *files) == []


def test_a_public_name_is_renamed_in_its_hunk() -> None:
    """An alike definition in the same hunk is the new name."""
    lines = ("-def get_kv_cache():", "+def get_kv_caches():")
    assert told(FactKind.RENAMED_NAME, changed("vllm/engine.py", *lines)) == [("get_kv_cache", None, "get_kv_caches")]


def test_a_name_in_a_deleted_file_is_removed() -> None:
    """A deleted source file takes its public names with it, and is told itself."""
    gone = file("vllm/old.py", "@@ -1,2 +0,0 @@\n-class Old:\n-    pass", status="removed")
    assert names(FactKind.REMOVED_NAME, gone) == ["Old"]
    assert names(FactKind.FILE_DELETED, gone) == ["vllm/old.py"]
    assert names(FactKind.FILE_DELETED, file("tests/test_old.py", status="removed")) == []


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["-    size: int = 1", "+    size: int = 2"], ("Cache.size", "1", "2")),
        (
            ["-    mode: Literal['a', 'b'] = \"a\"", "+    mode: Literal['a', 'b'] = \"b\""],
            ("Cache.mode", '"a"', '"b"'),
        ),
        (["-    on: bool | None = None", "+    on: bool | None = True"], ("Cache.on", "None", "True")),
        (
            ['-    add_argument("--size", type=int, default=1)', '+    add_argument("--size", type=int, default=2)'],
            ("--size", "1", "2"),
        ),
        (
            [
                "     add_argument(",
                '         "--size",',
                "         type=int,",
                "-        default=1,",
                "+        default=2,",
                "     )",
            ],
            ("--size", "1", "2"),
        ),
        (
            [
                "-    size: int = 1  # few",
                "-    rate: float = 0.5",
                "+    size: int = 1  # several",
                "+    rate: float = 0.9",
            ],
            ("Cache.rate", "0.5", "0.9"),
        ),
    ],
)
def test_a_default_that_differs_is_changed(lines: Sequence[str], fact: Told) -> None:
    """A field's or a flag's default is compared with the one in its place, also where its definition takes several lines."""
    under = "class Cache:" if fact[0].startswith("Cache") else "def add_arguments(parser):"
    assert told(FactKind.DEFAULT_CHANGED, changed("vllm/config.py", *lines, under=under)) == [fact]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("vllm/config.py", ["-    size: int = 1", "+    length: int = 2"]),
        ("vllm/config.py", ["-    size: int = 1", "+    size: int = compute()"]),
        ("vllm/config.py", ["-    name: str = 'a'", '+    name: str = "a"']),
        ("vllm/config.py", ["-    rate: float = 1.", "+    rate: float = 1.0"]),
        ("vllm/config.py", ["-    size: int = 1", "+    size: int | None = 1"]),
        ("vllm/config.py", ["-    size: int = 1", "+    a = 1", "+    size: int = 2"]),
        ("vllm/config.py", ["-    size = 1", "+    size = 2"]),
        ("vllm/config.py", ["     f()", "-    default=1,", "+    default=2,"]),
        ("tests/test_config.py", ["-    size: int = 1", "+    size: int = 2"]),
    ],
)
def test_a_default_that_cannot_be_told_apart_is_not_changed(path: str, lines: Sequence[str]) -> None:
    """Other names, values to be computed, another spelling of the same value, and tests prove no new default."""
    assert told(FactKind.DEFAULT_CHANGED, changed(path, *lines)) == []


@pytest.mark.parametrize(
    ("path", "lines", "kind", "fact"),
    [
        (
            "requirements.txt",
            ["-torch==2.9.0", "+torch==2.9.1"],
            FactKind.DEPENDENCY_MOVED,
            ("torch", "==2.9.0", "==2.9.1"),
        ),
        (
            "requirements/common.txt",
            ["-ray[cgraph] >= 2.4, < 3 # ok", "+ray[cgraph] >= 2.5, < 3"],
            FactKind.MINIMUM_RAISED,
            ("ray", ">=2.4,<3", ">=2.5,<3"),
        ),
        ("requirements.txt", ["+numpy>=2"], FactKind.DEPENDENCY_ADDED, ("numpy", None, ">=2")),
        ("requirements.txt", ["-numpy>=2"], FactKind.DEPENDENCY_REMOVED, ("numpy", ">=2", None)),
        (
            "pyproject.toml",
            ['-    "torch == 2.9.0",', '+    "torch == 2.9.1",'],
            FactKind.DEPENDENCY_MOVED,
            ("torch", "==2.9.0", "==2.9.1"),
        ),
        ("pyproject.toml", ['+    "numpy>=2",'], FactKind.DEPENDENCY_ADDED, ("numpy", None, ">=2")),
        ("pyproject.toml", ['-    "numpy>=2",'], FactKind.DEPENDENCY_REMOVED, ("numpy", ">=2", None)),
        (
            "pyproject.toml",
            ['-numpy = "^1.26"', '+numpy = "^2.0"'],
            FactKind.DEPENDENCY_MOVED,
            ("numpy", "^1.26", "^2.0"),
        ),
        (
            "Cargo.toml",
            ['-serde = { version = "1.0" }', '+serde = { version = "1.1" }'],
            FactKind.DEPENDENCY_MOVED,
            ("serde", "1.0", "1.1"),
        ),
        (
            "web/package.json",
            ['-    "react": "^18.0.0",', '+    "react": "^19.0.0",'],
            FactKind.DEPENDENCY_MOVED,
            ("react", "^18.0.0", "^19.0.0"),
        ),
    ],
)
def test_a_dependency_moves_comes_and_goes(path: str, lines: Sequence[str], kind: FactKind, fact: Told) -> None:
    """A requirement's version is compared with the one it had, and one without a counterpart has come or gone."""
    assert told(kind, changed(path, *lines)) == [fact]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("requirements.txt", ["-torch==2.9.0", "+torch == 2.9.0"]),
        ("requirements.txt", ["-# torch==2.9.0"]),
        ("requirements.txt", ["-torch==2.9.0", "+torch @ git+ssh://x.example/torch"]),
        ("pyproject.toml", ['-version = "1.0"', '+version = "1.1"']),
        ("pyproject.toml", ["-line-length = 80", "+line-length = 120"]),
        ("vllm/engine.py", ['-    "torch==2.9.0"', '+    "torch==2.9.1"']),
    ],
)
def test_what_is_no_dependency_neither_moves_nor_goes(path: str, lines: Sequence[str]) -> None:
    """Another spelling, a comment, a project's own settings and other files prove nothing of dependencies."""
    kinds = (FactKind.DEPENDENCY_MOVED, FactKind.DEPENDENCY_ADDED, FactKind.DEPENDENCY_REMOVED)
    assert [name for kind in kinds for name in names(kind, changed(path, *lines))] == []


def test_a_dependency_that_moves_to_another_file_has_not_gone() -> None:
    """What one list of requirements loses and another gains is required as before."""
    files = [changed("requirements/common.txt", "-torch==2.9.0"), changed("requirements/cuda.txt", "+torch==2.9.0")]
    assert names(FactKind.DEPENDENCY_REMOVED, *files) == []


def test_a_module_moves_with_its_file() -> None:
    """A renamed source module is missed under its old path."""
    moved = file("vllm/v1/engine.py", status="renamed", was="vllm/engine.py")
    assert told(FactKind.MOVED_MODULE, moved) == [("vllm/engine.py", None, "vllm/v1/engine.py")]


@pytest.mark.parametrize(
    "files",
    [
        [file("tests/b.py", status="renamed", was="tests/a.py")],
        [file("vllm/b.json", status="renamed", was="vllm/a.json")],
        [file("vllm/b.py", status="renamed", was="vllm/_a.py")],
        [file("tools/b.py", status="renamed", was="tools/a.py")],
        [file("vllm/b.py", status="renamed", was="vllm/a.py"), new_file("vllm/a.py", "from vllm.b import *")],
        [file("vllm/b.py", status="copied", was="vllm/a.py")],
        [file("vllm/a/__init__.py", status="renamed", was="vllm/a.py")],
    ],
)
def test_a_module_that_nobody_misses_has_not_moved(files: Sequence[FileChange]) -> None:
    """Tests, data, private modules and tools, and a module whose old path still exists are not missed."""
    assert names(FactKind.MOVED_MODULE, *files) == []


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("vllm/a.py", "self.guard = threading.RLock()", "threading.RLock"),
        ("vllm/a.py", "with self._lock:", "self._lock"),
        ("vllm/a.py", "event = asyncio.Event()", "asyncio.Event"),
        ("csrc/a.cpp", "std::lock_guard<std::mutex> guard(m);", "std::lock_guard"),
        ("pkg/a.go", "mu sync.RWMutex", "sync.RWMutex"),
    ],
)
@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_lock_that_comes_or_goes_touches_concurrency(path: str, line: str, name: str, sign: str) -> None:
    """Locks, threads and events that a file gains or loses are told once."""
    assert names(FactKind.CONCURRENCY, changed(path, f"{sign}    {line}")) == [name]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("vllm/a.py", ["-with self._lock:", "+    with self._lock:"]),
        ("vllm/a.py", ["-clock = 1"]),
        ("vllm/a.py", [" with self._lock:", "-a", "+b"]),
        ("tests/test_a.py", ["+lock = threading.Lock()"]),
        ("docs/a.md", ["+threading.Lock()"]),
    ],
)
def test_a_lock_that_stays_does_not_touch_concurrency(path: str, lines: Sequence[str]) -> None:
    """Lines that only moved, other words, and tests and documents prove nothing of concurrency."""
    assert names(FactKind.CONCURRENCY, changed(path, *lines)) == []


@pytest.mark.parametrize(
    ("title", "body", "pull", "name"),
    [
        ("Fix CVE-2025-12345", "", None, "CVE-2025-12345"),
        ("Fix it", "See cve-2025-12345.", None, "CVE-2025-12345"),
        ("Fix it", "", "Addresses GHSA-abcd-12ef-34gh", "GHSA-abcd-12ef-34gh"),
        ("Harden (CWE-502)", "", None, "CWE-502"),
        ("Prevent path traversal in the loader", "", None, "path traversal"),
        ("Fix it", "This was a ReDoS.", None, "redos"),
    ],
)
def test_a_vulnerability_that_is_named_is_security(title: str, body: str, pull: str | None, name: str) -> None:
    """An advisory's number or an attack's name in the author's words is told of a commit that changes code, and of no other."""
    code, remark = changed("vllm/a.py", "-x = 1", "+x = 2"), changed("vllm/a.py", "-# one", "+# two")
    documents = [changed("README.md", "-a", f"+{name}"), changed("tests/test_a.py", "-x = 1", "+x = 2")]
    assert told(FactKind.SECURITY, *documents, code, title=title, body=body, pull=pull) == [(name, None, None)]
    assert told(FactKind.SECURITY, *documents, remark, title=title, body=body, pull=pull) == []
    assert told(FactKind.SECURITY, title=title, body=body, pull=pull) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["-x = pickle.loads(data)", "+x = json.loads(data)"], ["pickle.loads"]),
        (["-subprocess.run(cmd, shell=True)", "+subprocess.run(cmd)"], ["shell=True"]),
        (["-x = pickle.loads(data)", "+y = pickle.loads(other)"], []),
        (["+x = pickle.loads(data)"], []),
        (["-model.eval()", "+model.train()"], []),
        (["-securely()", "+insecurely()"], []),
    ],
)
def test_an_unsafe_call_that_goes_is_security(lines: Sequence[str], found: list[str]) -> None:
    """A dangerous call that a file no longer makes is told; one that comes or moves is not."""
    assert names(FactKind.SECURITY, changed("vllm/a.py", *lines)) == found


@pytest.mark.parametrize(
    ("title", "body", "name"),
    [
        ('Revert "[Core] Add x (#12)" (#34)', "", "[Core] Add x (#12)"),
        ("[Core] Revert “Add x”", "", "Add x"),
        ("Take it out", "This reverts commit 0123456789abcdef0123456789abcdef01234567.", "0123456"),
        ("[Core] Restore x (reverts #12) (#34)", "", "#12"),
        ("Restore x", "Reverts acme/engine#12", "#12"),
        ("Restore x", "This reverts #12.", "#12"),
    ],
)
def test_a_revert_is_told_by_its_title_or_its_body(title: str, body: str, name: str) -> None:
    """What is reverted is named by its title, or else by the beginning of its SHA."""
    assert told(FactKind.REVERT, title=title, body=body) == [(name, None, None)]


@pytest.mark.parametrize(
    "title",
    [
        "Reverting is easy",
        "Add a revert button",
        "Reverted index",
        "Do it",
        "Stop reverting #12",
        "Revert to the default of #12",
        "[Core] Revert back to the default",
        "Fix a size that reverts to the default of #12",
    ],
)
def test_a_title_about_reverting_reverts_nothing(title: str) -> None:
    """Only a title that begins with the word, after its tags, reverts."""
    assert reverted_title(commit(title)) is None
    assert reverted_sha(commit(title)) is None
    assert told(FactKind.REVERT, title=title) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["+@pytest.mark.skip(reason='flaky')", " def test_a():"], ["test_a"]),
        (["+    pytest.skip('no GPU')"], []),
        (["+@pytest.mark.skip(reason='flaky')", "+def test_a():"], []),
        (["-def test_a():", "-    assert a"], ["test_a"]),
        (["-    async def test_a(self):"], ["test_a"]),
        (["-def test_a():", "+def test_a(x):"], []),
        (["-def test_a():", "+def test_b():"], []),
        (["-@pytest.mark.skip(reason='x')", '+@pytest.mark.skip(reason="x")'], []),
        (["-@pytest.mark.skip(reason='flaky')"], []),
        (["+@pytest.mark.skipif(no_gpu, reason='')"], []),
    ],
)
def test_a_test_that_goes_or_is_skipped_is_told(lines: Sequence[str], found: list[str]) -> None:
    """A test that is removed or skipped is told; one that is changed, renamed or taken up again is not."""
    assert names(FactKind.TEST_REMOVED, changed("tests/test_a.py", *lines)) == found


def test_a_test_that_moves_under_another_name_is_not_removed() -> None:
    """A test whose body test files of the commit gain elsewhere is one that moved."""
    body = ["    pool = Pool()", "    assert pool.take()", "    assert not pool.take()"]
    gone = changed("tests/test_a.py", "-def test_take(", "-    size,", "-):", *(f"-{line}" for line in body), " x = 1")
    come = new_file("tests/pools/test_pool.py", "def test_take_from_pool(size):", *body)
    assert names(FactKind.TEST_REMOVED, gone, come) == []
    assert names(FactKind.TEST_REMOVED, gone, new_file("tests/pools/test_pool.py", "def test_give():", body[0])) == [
        "test_take"
    ]


def test_a_fact_is_told_once() -> None:
    """The same name gone twice is one fact."""
    both = [changed("vllm/a.py", '-add_argument("--x")'), changed("vllm/b.py", '-add_argument("--x")')]
    assert names(FactKind.REMOVED_FLAG, *both) == ["--x"]


def test_facts_come_in_the_order_of_their_kinds() -> None:
    """The most telling kinds stand first, wherever they were found."""
    files = [
        changed("requirements.txt", "+numpy>=2"),
        changed("vllm/a.py", "-def gone():"),
        changed("vllm/args.py", '-add_argument("--x")'),
    ]
    found = [fact.kind for fact in facts(commit('Revert "x"', files))]
    assert found == [FactKind.REVERT, FactKind.REMOVED_FLAG, FactKind.REMOVED_NAME, FactKind.DEPENDENCY_ADDED]
