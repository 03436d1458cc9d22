"""Lines that define a name, the defaults that they give it, and names that are spelled nearly so."""

import pytest

from analysis.questions.definitions import default_in, explanation, is_definition, nearest


@pytest.mark.parametrize(
    ("line", "default"),
    [
        ("    lanes: int = Field(default=8, ge=1)", "8"),
        ("    lanes: int | None = None", "None"),
        ("def run(window, lanes: int = 4):", "4"),
        ('    parser.add_argument("--lanes", type=int, default=2)', "2"),
        ('LIMIT = os.environ.get("lanes", "16")', '"16"'),
        ("lanes = 3", "3"),
        ("    lanes: dict[str, int] = {}", "{}"),
        ("    run(lanes=2)", None),
        ("    lanes=2,", None),
        ("    lanes: int", None),
        ("    other_lanes: int = 7", None),
        ("    lanes: int = config.lanes", None),
    ],
)
def test_a_default_is_read_from_what_declares_it(line: str, default: str | None) -> None:
    """Of fields, parameters, options and environment variables; not of calls, nor of what is computed."""
    assert default_in("lanes", line) == default


@pytest.mark.parametrize(
    ("line", "defines"),
    [
        ("class Lane(Base):", True),
        ("    async def Lane(self):", True),
        ("    Lane: int = 3", True),
        ("Lane = 3", True),
        ("    return Lane(3)", False),
        ("    Lane=3,", False),
        ("from lanes import Lane", False),
    ],
)
def test_a_definition_is_told_from_a_use(line: str, defines: bool) -> None:
    """A class, a function, a field or a constant is defined; a call and an import are not."""
    assert is_definition("Lane", line) is defines


def test_only_a_near_name_is_offered() -> None:
    """One wrong or missing letter is a typing error; another name is none."""
    texts = ["    max_num_seqs: int = 128", "def other_name():"]
    assert nearest("--max-num-seq", texts) == "max_num_seqs"
    assert nearest("prefix_cache", texts) is None


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (
            ["    lanes: int = 8", '    """How many run', '    at once."""'],
            (0, 'lanes: int = 8 """How many run at once."""'),
        ),
        (
            ["parser.add_argument(", '    "--lanes",', '    help="How many run "', '    "at once.",', ")"],
            (0, 'parser.add_argument("--lanes", help="How many run at once.")'),
        ),
        (["    # How many run.", '    "lanes": lambda: 8,'], (0, '# How many run. "lanes": lambda: 8,')),
        (["def lanes(self):", "    return 8", '"""Of another."""'], None),
        (["    lanes: int = 8", "    others: int = 9", '    """Of others."""'], None),
        (["    # Of all parameters", "    lanes: int,"], None),
    ],
)
def test_a_definition_is_explained_by_what_stands_below_or_above_it(
    lines: list[str], found: tuple[int, str] | None
) -> None:
    """The string below a definition, its help, or the comment above explain it; what belongs to another name does not."""
    assert explanation("lanes", lines) == found
