"""Changed defaults proved by the whole files before and after a commit."""

from textwrap import dedent

import pytest

from analysis.facts import facts
from analysis.models import Fact, FactKind, Proof
from tests.analysis.facts.told import Told
from tests.analysis.facts.trees import commit_between, trees


def changed_defaults(before: dict[str, str], after: dict[str, str]) -> list[Fact]:
    """The changed defaults of a commit that turns some files into others; files of one side only count for both."""
    whole = {**after, **before}, {**before, **after}
    found = facts(commit_between(*whole), trees(*whole))
    return [each for each in found if each.kind is FactKind.DEFAULT_CHANGED]


def told(before: str, after: str, path: str = "pool/core.py", **others: str) -> list[Told]:
    """(name, old, new) of the changed defaults of one file; `others` are modules of its package, unchanged."""
    modules = {f"pool/{name}.py": dedent(text) for name, text in others.items()}
    found = changed_defaults({path: dedent(before), **modules}, {path: dedent(after), **modules})
    return [(fact.name, fact.old, fact.new) for fact in found]


@pytest.mark.parametrize(
    ("text", "old", "new", "fact"),
    [
        ("class Pool:\n    size: int = {}\n", "4", "8", ("Pool.size", "4", "8")),
        ("class Pool:\n    size: int = {}\n", "4 * 1024", "8 * 1024", ("Pool.size", "4096", "8192")),
        ("class Pool:\n    SIZE = {}\n", "4", "8", ("Pool.SIZE", "4", "8")),
        ("class Pool:\n    size: int = field(default={})\n", "4", "8", ("Pool.size", "4", "8")),
        ("class Pool:\n    size: int = Field({}, ge=1)\n", "4", "8", ("Pool.size", "4", "8")),
        ("class Pool:\n    size: int = Field(default={})\n", "4", "8", ("Pool.size", "4", "8")),
        ("class Pool:\n    ids: list = field(default_factory=lambda: [{}])\n", "1", "2", ("Pool.ids", "[1]", "[2]")),
        ("class Pool:\n    class Limits:\n        size: int = {}\n", "4", "8", ("Pool.Limits.size", "4", "8")),
        ("def take(a, size={}):\n    ...\n", "4", "8", ("take(size)", "4", "8")),
        ("class Pool:\n    def take(self, *, fast: bool = {}):\n        ...\n", "True", "False", ("Pool.take(fast)", "True", "False")),
        ("def f(p):\n    p.add_argument('-s', '--size', default={})\n", "4", "8", ("--size", "4", "8")),
        ("def f(p):\n    p.add_argument('--on', action='{}')\n", "store_true", "store_false", ("--on", "False", "True")),
        ("def f(p):\n    p.add_argument('--size', type=int{})\n", ", default=1", "", ("--size", "1", "None")),
        ("@click.option('--size', default={})\ndef f(size):\n    ...\n", "4", "8", ("--size", "4", "8")),
        ("import logging\ndef f(level=logging.{}):\n    ...\n", "INFO", "DEBUG", ("f(level)", "logging.INFO", "logging.DEBUG")),
    ],
)  # fmt: skip
def test_each_kind_of_setting_has_its_default_compared(text: str, old: str, new: str, fact: Told) -> None:
    """Fields, constants of classes, parameters and flags have their defaults evaluated before and after."""
    assert told(text.format(old), text.format(new)) == [fact]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class Pool:\n    size: int = 4096\n", "class Pool:\n    size: int = 4 * 1024\n"),
        ("def take(size=None):\n    if size is None:\n        size = 4\n", "def take(size=4):\n    ...\n"),
        ("def take(options=None):\n    ...\n", "def take(options={}):\n    ...\n"),
        ("def _take(size=1):\n    ...\n", "def _take(size=2):\n    ...\n"),
        ("def take():\n    size: int = 1\n", "def take():\n    size: int = 2\n"),
        ("class _Pool:\n    size: int = 1\n", "class _Pool:\n    size: int = 2\n"),
        ("class Pool:\n    _size: int = 1\n", "class Pool:\n    _size: int = 2\n"),
        ("class Mode(Enum):\n    FAST = 1\n", "class Mode(Enum):\n    FAST = 2\n"),
        ("class Pool:\n    METHODS = ['a']\n", "class Pool:\n    METHODS = ['a', 'b']\n"),
        ("if TYPE_CHECKING:\n    SIZE: int = 1\n", "if TYPE_CHECKING:\n    SIZE: int = 2\n"),
        ("class Pool:\n    size: int = one()\n", "class Pool:\n    size: int = 2\n"),
        ("SIZE = 1\n", "SIZE = 2\n"),
        (
            "class Pool:\n    size: int = 4\n",
            "class Pool:\n    size: int | None = None\n    def __post_init__(self):\n        self.size = 4\n",
        ),
        ("def f(p, **more):\n    p.add_argument('--a', default=1)\n", "def f(p, **more):\n    p.add_argument('--a', **more)\n"),
        ("@overload\ndef take(size=1):\n    ...\n", "@overload\ndef take(size=2):\n    ...\n"),
    ],
)  # fmt: skip
def test_what_is_the_same_in_effect_or_private_is_no_changed_default(before: str, after: str) -> None:
    """Another spelling of a value, a None that stands for it, private names and tables prove no new default."""
    assert told(before, after) == []


@pytest.mark.parametrize(
    "reading",
    [
        'os.getenv("POOL_FAST", "{}")',
        'bool(int(os.getenv("POOL_FAST", "{}")))',
        'os.environ.get("POOL_FAST", default="{}").lower() in ("1", "true")',
        'os.getenv("POOL_FAST", "") or "{}"',
        'env_bool("POOL_FAST", "{}")',
        'bool(os.environ["POOL_FAST"]) if "POOL_FAST" in os.environ else bool({})',
    ],
)
def test_a_variables_default_is_its_value_when_it_is_not_set(reading: str) -> None:
    """However a variable is read, the value that it has without being set is compared."""
    text = 'import os\nREAD = {{\n    "POOL_FAST": lambda: {},\n}}\n'
    before, after = (text.format(reading.format(value)) for value in "01")
    (name, old, new), *others = told(before, after, "pool/envs.py")
    assert (name, others) == ("POOL_FAST", [])
    assert old
    assert new
    assert (old.strip('"'), new.strip('"')) in (("0", "1"), ("False", "True"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.getenv("POOL_FAST", "False").lower() == "true"', 'bool(int(os.getenv("POOL_FAST", "0")))'),
        ('os.getenv("POOL_FAST", "0") == "1"', 'os.getenv("POOL_FAST", "0") != "0"'),
        ('os.getenv("POOL_FAST")', 'os.getenv("POOL_FAST", "1")'),
        ('os.getenv("POOL_FAST") or "1"', 'os.getenv("POOL_FAST", "1")'),
        ('os.getenv("POOL_FAST", "1")', 'os.getenv("POOL_FAST", first())'),
    ],
)
def test_another_way_to_read_a_variable_leaves_its_default(before: str, after: str) -> None:
    """Another conversion of the same default proves nothing, nor does a default that cannot be evaluated."""
    text = "import os\nx = {}\n"
    assert told(text.format(before), text.format(after)) == []


def test_a_constant_is_followed_to_the_settings_that_it_feeds() -> None:
    """Where a constant changes, each setting that names it is reported, at the constant's line."""
    text = "SIZE = {}\n\nclass Pool:\n    size: int = SIZE\n\ndef take(count=2 * SIZE):\n    ...\n"
    found = changed_defaults({"pool/core.py": text.format(4)}, {"pool/core.py": text.format(8)})
    assert [(each.name, each.old, each.new) for each in found] == [("Pool.size", "4", "8"), ("take(count)", "8", "16")]
    assert (found[0].place, found[0].proof) == ("pool/core.py:1", Proof.FILES)


def test_a_member_of_an_enumeration_is_shown_by_its_name() -> None:
    """Members of one enumeration are compared by name; a member and the text it stands for are the same."""
    modes = "class Mode(str, Enum):\n    AUTO = 'auto'\n    FAST = 'fast'\n"
    text = "from pool.modes import Mode\n\ndef take(mode={}):\n    ...\n"
    assert told(text.format("Mode.AUTO"), text.format("Mode.FAST"), modes=modes) == [
        ("take(mode)", "Mode.AUTO", "Mode.FAST")
    ]
    assert told(text.format("'auto'"), text.format("Mode.AUTO"), modes=modes) == []


def test_a_field_and_its_flag_are_reported_once() -> None:
    """A flag that takes its default from a field of the same name stands for both."""
    text = "class Pool:\n    max_size: int = {}\n\ndef f(p):\n    p.add_argument('--max-size', default=Pool.max_size)\n"
    assert told(text.format(4), text.format(8)) == [("--max-size", "4", "8")]


def test_a_parameter_that_becomes_none_is_decided_later() -> None:
    """None as a parameter's default means what its function makes of it."""
    text = "def send(tags={}):\n    ...\n"
    assert told(text.format("True"), text.format("None")) == []
    assert told(text.format("True"), text.format("False")) == [("send(tags)", "True", "False")]


@pytest.mark.parametrize(
    "path", ["tests/pool.py", "examples/pool.py", "tools/pool.py", "benchmarks/pool.py", "setup.py"]
)
def test_tests_examples_and_tooling_have_no_settings(path: str) -> None:
    """What users do not run has no default for them."""
    text = "import os\nx = os.getenv('POOL_FAST', '{}')\n"
    assert told(text.format(0), text.format(1), path) == []


@pytest.mark.parametrize("broken", ["def (:\n", "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n"])
def test_a_file_that_cannot_be_parsed_leaves_what_its_patch_shows(broken: str) -> None:
    """If a side is no valid Python or nested too deeply, the patch proves what it can."""
    text = "class Pool:\n    size: int = {}\n    a = 1\n    b = 2\n"
    found = changed_defaults({"pool/core.py": text.format(1)}, {"pool/core.py": text.format(2) + broken})
    assert [(each.name, each.proof) for each in found] == [("Pool.size", Proof.PATCH)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def take():\n    size = {}\n    return size\n", []),
        ("class Pool:\n    def take(self):\n        run(\n            size={},\n        )\n", []),
        ("def take(\n    size: int = {},\n): ...\n", ["take(size)"]),
        ("class Pool:\n    def take(\n        self,\n        size={},\n    ): ...\n", ["Pool.take(size)"]),
        ("class Pool:\n    size: int = {}\n\n    def take(self): ...\n", ["Pool.size"]),
        ("def main(p):\n    size = {}\n    p.add_argument('--size', default=size)\n", ["--size"]),
    ],
)
def test_a_local_value_is_no_default_unless_an_option_or_an_argument_takes_it(text: str, names: list[str]) -> None:
    """What a function binds for itself is left out; what its parameters or its flags take is told."""
    found = changed_defaults({"pool/core.py": text.format(10)}, {"pool/core.py": text.format(20)})
    assert [each.name for each in found] == names
