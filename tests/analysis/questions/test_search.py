"""What is found of a commit for a question, how it is quoted, and what is denied."""

import pytest

from analysis.diff import hunks
from analysis.models import Commit, Language, Statement
from analysis.questions.items import counterpart, quote
from analysis.questions.terms import name_key, terms_of
from analysis.search.words import stem
from tests.bench.answers import denies
from tests.factories import answered, commit, entry, file, new_file, patch

CLI = file(
    "engine/cli.py",
    patch(
        " def parser():",
        "+    add_argument(",
        '+        "--lane-width",',
        "+        default=8,",
        '+        help="Lanes of a batch are this wide,"',
        '+        " and no wider.",',
        "+    )",
        "     return parser",
    ),
)
SESSION = file(
    "engine/session.py",
    patch(
        " class Session:",
        "-    def reopen(self, key):",
        "-        return self.open(key)",
        " ",
        "-    timeout = 30",
        "+    timeout = 60",
        " ",
        "+    # The session is kept while a reader",
        "+    # holds it, and closed later.",
        "     closed = False",
    ),
)
TEST = new_file(
    "tests/test_cli.py", "def test_lane_width():", '    assert parse("--lane-width=8")', "    assert lane_width"
)
CHANGE = commit("[CLI] Add lanes (#7)", [CLI, SESSION, TEST], body="Readers starve when sessions are reopened.")


def ask(question: str, language: Language = "en", change: Commit = CHANGE) -> list[Statement]:
    return answered(question, entry(change), language=language)


def quoted(question: str, language: Language = "en") -> list[str]:
    return [each.text for each in ask(question, language) if each.kind == "item"]


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        (
            "what is --lane-width?",
            "en",
            'adds `add_argument("--lane-width", default=8, help="Lanes of a batch are this wide," " and no wider.")`',
        ),
        ("how long is the timeout?", "en", "changes `timeout = 30` to `timeout = 60`"),
        ("会话什么时候关闭？", "zh", "新增 `# The session is kept while a reader holds it, and closed later.`"),
        ("is any public method removed?", "en", "Removes method `Session.reopen`"),
        ("why do readers starve?", "en", "the author writes: `Readers starve when sessions are reopened.`"),
        ("读者为什么会 starve？", "zh", "作者写道：`Readers starve when sessions are reopened.`"),
    ],
)
def test_a_hit_is_quoted_with_what_completes_it(question: str, language: Language, text: str) -> None:
    """A call, a replaced line, a comment and the author's sentence are quoted whole, in either language."""
    assert text in quoted(question, language)[:2]


def test_names_are_found_however_they_are_spelled() -> None:
    """Flags, snake case and camel case are one name, and a name beats tests that use it."""
    for name in ("--lane-width", "lane_width", "LaneWidth"):
        assert ask(f"what is {name}?")[1].citations[0].label.startswith("engine/cli.py")
    assert {name_key(each) for each in ("--kv-cache", "kv_cache", "KVCache")} == {"kvcache"}
    assert {stem(each) for each in ("removes", "removed", "removing", "remove")} == {"remov"}


VARIABLES = [f'-    "ENGINE_OLD_{number}": lambda: os.environ.get("ENGINE_OLD_{number}"),' for number in range(6)]
DROPPED = commit("Drop old variables", [file("engine/envs.py", patch(" ENVS = {", *VARIABLES, " }"))])


def test_at_most_two_facts_of_a_kind_are_told() -> None:
    """Where a commit has many facts of a kind, others leave room for lines and sentences."""
    texts = [each.text for each in ask("what about environment variables?", change=DROPPED)]
    assert sum(text.startswith("Removes environment variable") for text in texts) == 2


def test_who_asks_what_happened_is_told_all_of_it() -> None:
    """With what facts prove, or that nothing proves it."""
    [told] = ask("which environment variables are removed?", change=DROPPED)
    assert all(f"`ENGINE_OLD_{number}`" in told.text for number in range(4))
    assert "No line answers this for certain." in ask("which flags were removed?", change=DROPPED)[0].text


@pytest.mark.parametrize(
    ("question", "language", "beginning"),
    [
        ("does this touch ROCm?", "en", "Neither the diff (3 files) nor the message mentions `ROCm`."),
        ("does `TurboLane` change?", "en", "Neither the diff (3 files) nor the message mentions `TurboLane`."),
        ("量化受影响吗", "zh", "diff（3 个文件）和提交说明都没有提到 `量化`。"),
        ("what's the weather?", "en", "Neither the diff (3 files) nor the message mentions `weather`."),
    ],
)
def test_a_denial_names_what_occurs_nowhere(question: str, language: Language, beginning: str) -> None:
    """Names and words of the field that occur nowhere are denied; so are common words that alone are asked for."""
    first = ask(question, language)[0].text
    assert first.startswith(beginning)
    assert denies(first, language)


def test_what_is_not_there_stands_above_the_nearest_places() -> None:
    """Where a name is missing and others are not, the nearest places are said to be that."""
    texts = [each.text for each in ask("does the eviction of reopened sessions change?")]
    assert texts[:2] == ["Neither the diff (3 files) nor the message mentions `eviction`.", "Closest matches:"]
    assert any("reopen" in text for text in texts[2:])


def test_nothing_is_denied_of_a_diff_that_is_not_shown() -> None:
    """Where the patch of a file is missing, its absence from the rest proves nothing."""
    large = file("engine/large.py", None, additions=9_000)
    first = ask("does this touch ROCm?", change=commit("Grow", [CLI, large]))[0].text
    assert first == "I found nothing about this, but not every changed line could be read."


def test_a_denied_name_is_none_in_any_spelling() -> None:
    """A word that only occurs within longer names, or with another ending, is not denied."""
    for word in ("lanes", "Widths", "sessions", "starving"):
        assert not ask(f"are {word} affected?")[0].text.startswith("Neither")


def test_a_long_table_is_not_quoted_whole() -> None:
    """A line of a table stands for itself, and a quotation has at most eight lines."""
    table = [f'+    "key_{number}": {number},' for number in range(30)]
    (lines,) = hunks(patch("+TABLE = {", *table, "+}"))
    assert quote(lines, 5) == ('"key_4": 4,', range(5, 6))
    call = ["+call(", *(f"+    argument_{number}," for number in range(30)), "+)"]
    text, places = quote(hunks(patch(*call))[0], 3)
    assert len(places) <= 8
    assert "argument_2" in text


def test_a_replaced_line_has_its_counterpart() -> None:
    """Lines of a block that was replaced line by line belong together; of others nobody knows."""
    (lines,) = hunks(patch("-a = 1", "-b = 1", "+a = 2", "+b = 2", " ", "-c = 1", "+c = 2", "+d = 2"))
    assert [counterpart(lines, place) for place in range(len(lines))] == [2, 3, 0, 1, None, None, None, None]


def test_terms_are_telling_if_they_are_names_or_of_the_field() -> None:
    """Names, acronyms, words of the field and rare words may be denied; common words may not."""
    telling = {term.text: term.telling for term in terms_of("does the ROCm tokenizer or eviction return fp8 values?")}
    assert telling == {"ROCm": True, "tokenizer": True, "eviction": True, "return": False, "fp8": True, "values": False}
