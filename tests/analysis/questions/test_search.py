"""What is found of a commit for a question, how it is quoted, and what is denied."""

import pytest

from analysis.models import Commit, Language, Statement
from analysis.questions.passages import passages, replaced
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
            'adds `add_argument("--lane-width", default=8, help="Lanes of a batch are this wide, and no wider.")`, in `parser`',
        ),
        ("how long is the timeout?", "en", "changes `timeout = 30` to `timeout = 60`, in `Session`"),
        (
            "会话什么时候关闭？",
            "zh",
            "新增 `# The session is kept while a reader holds it, and closed later. closed = False`，位于 `Session`",
        ),
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
        assert ask(f"what is {name}?")[0].citations[0].label.startswith("engine/cli.py")
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
    assert "The commit does not say this outright." in ask("which flags were removed?", change=DROPPED)[0].text


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


def test_a_word_within_a_name_is_not_denied() -> None:
    """Who asks for a family of models means the names that begin with it."""
    added = file("engine/registry.py", patch(" MODELS = {", '+    "Lynx4Moe": load,', " }"))
    assert not any("mentions" in each.text for each in ask("is LYNX loaded?", change=commit("Add", [added])))


def test_nothing_is_denied_of_a_diff_that_is_not_shown() -> None:
    """Where the patch of a file is missing, its absence from the rest proves nothing."""
    large = file("engine/large.py", None, additions=9_000)
    first = ask("does this touch ROCm?", change=commit("Grow", [CLI, large]))[0].text
    assert first == "I found nothing about this, but not every changed line could be read."


def test_a_denied_name_is_none_in_any_spelling() -> None:
    """A word that only occurs within longer names, or with another ending, is not denied."""
    for word in ("lanes", "Widths", "sessions", "starving"):
        assert not ask(f"are {word} affected?")[0].text.startswith("Neither")


def told(*lines: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.text, each.context) for each in passages(file("engine/a.py", patch(*lines)))]


def test_a_long_table_is_not_quoted_whole() -> None:
    """A line of a table stands for itself, in the table, and a statement has at most eight lines."""
    table = [f'+    "key_{number}": {number},' for number in range(30)]
    assert told("+TABLE = {", *table, "+}")[5] == ('"key_4": 4,', ("TABLE",))
    call, *_ = passages(file("engine/a.py", patch("+call(", *(f"+    argument_{each}," for each in range(30)), "+)")))
    assert len(call.places) == 8


def test_a_passage_has_what_it_stands_in_and_what_follows_from_it() -> None:
    """A condition is quoted with what it does, and each of that in the condition; a field with the string that explains it."""
    lines = (
        " class Lane:",
        "+    wide: bool = True",
        '+    """Off for one',
        '+    lane."""',
        " ",
        "+    if wide:",
        "+        warn(1)",
        "+    else:",
        "+        raise E()",
    )
    assert told(*lines) == [
        ('wide: bool = True """Off for one lane."""', ("Lane",)),
        ("if wide: warn(1)", ("Lane",)),
        ("warn(1)", ("Lane", "if wide")),
        ("else: raise E()", ("Lane",)),
        ("raise E()", ("Lane", "if wide … else")),
    ]


def test_a_passage_is_paired_with_what_replaces_it() -> None:
    """What still has its name, is alone or is alike belongs together; of others nobody knows, and what only moves is none."""
    lines = ["-a = 1", "-b = 1", "+a = 2", "+b = 2", " ", "-c = f(1)", "+d = g(x)", " ", "-e()", " ", "+e()"]
    found = passages(file("engine/a.py", patch(*lines)))
    pairs = [(each.text, other.text) for each in found if each.line.sign == "-" and (other := replaced(each))]
    assert pairs == [("a = 1", "a = 2"), ("b = 1", "b = 2")]
    assert [each.text for each in found if each.text == "e()"] == ["e()"]


ALLOWED = commit(
    "[Config] Deprecate lanes (#9)",
    [
        new_file("engine/methods.py", "OLD = [", '    "wide_lanes",', "]"),
        new_file(
            "engine/config.py",
            "class Config:",
            "    allow_old: bool = False",
            '    """Whether old ones run."""',
            "",
            "    def check(self):",
            "        if self.method in OLD:",
            "            if not self.allow_old:",
            '                raise E("Set --allow-old.")',
        ),
    ],
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "does wide_lanes start?",
            'adds `raise E("Set --allow-old.")`, in `if self.method in OLD`, `if not self.allow_old`',
        ),
        ("what does allow_old do?", 'adds `allow_old: bool = False """Whether old ones run."""`, in `Config`'),
        ("is allow_old on by default?", "`allow_old` is off by default."),
        ("how many ms does it save?", "The commit gives no figure for this."),
        ("why are lanes deprecated?", "The author gives no reason."),
        ("which flag turns it off?", "The commit adds or changes no flag, environment variable or other setting."),
    ],
)
def test_the_first_line_answers_what_is_asked(question: str, first: str) -> None:
    """What refuses a name of a list, what a setting is for and its default are told first; so is what the commit does not say."""
    change = commit("Be fast", [SESSION]) if "which flag" in question else ALLOWED
    assert ask(question, change=change)[0].text == first


def test_terms_are_telling_if_they_are_names_or_of_the_field() -> None:
    """Names, acronyms, words of the field and rare words may be denied; common words may not."""
    telling = {term.text: term.telling for term in terms_of("does the ROCm tokenizer or eviction return fp8 values?")}
    assert telling == {"ROCm": True, "tokenizer": True, "eviction": True, "return": False, "fp8": True, "values": False}
