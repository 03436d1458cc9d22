"""Questions: told from remarks, their references and languages, what of the evidence they are about, and answers by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.citations import to_line
from analysis.diff import hunks, tokens
from analysis.grounding.corpus import FileLines
from analysis.locale import catalogue
from analysis.models import Analysis, Commit, Entry, Fact, FactKind, Language, Statement, Turn
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.intent import asks_what_breaks, language_of, reads_as_question, references_in
from analysis.questions.prompt import relevant_chunks, render_chunks, render_day
from analysis.questions.question import Question, parse_question
from analysis.questions.segmenter import segments
from analysis.questions.terms import names_in
from tests.factories import REPOSITORY, SHA, answered, commit, file, new_file, patch
from tests.factories import entry as analysed

ENVS_LINES = (
    *(" ENVS = {", '-    "ENGINE_OLD_WAY": lambda: os.environ.get("ENGINE_OLD_WAY"),'),
    *('+    "FAST_LANES": lambda: 1,', " }"),
)
ENVS = file("engine/envs.py", patch(*ENVS_LINES, old=40, new=40))
SCHEDULER = file(
    "engine/core/scheduler.py", patch(" def pick():", "-    return first()", "+    return best_of(window)")
)
BREAKING = commit("[Core] Drop ENGINE_OLD_WAY (#12)", [SCHEDULER, ENVS])


def entry(told: Commit = BREAKING, summary: str = "") -> Entry:
    return analysed(told, analysis=Analysis(by="model", summary=summary) if summary else None)


def by_rules(asked: str, *entries: Entry, language: Language = "en") -> list[Statement]:
    return answered(asked, *(entries or (entry(),)), language=language)


QUESTIONS = """
does this touch ROCm?
does this touch ROCm
do we have to change our launch script
what changed in the scheduler
what's the default now
why was it removed
how do I migrate
how does it work
how to migrate
which flags were removed
who wrote this
is prefix caching affected?
is this breaking
are there any tests for this
can we upgrade safely
could this break our plugin
should we pin the old version
would it work with LoRA
will this break us
has anyone tried it
have you seen a regression
did it change the default
hey, does it need a new CUDA
ok so what about TPU
if we use ROCm, do we need to rebuild
Isn't this the same as before
when will it land
Thanks! What matters today
is `--foo` still accepted?
LGTM, but does it need a rebuild?
<@U123> does it need a rebuild
really??
这个改动会影响 ROCm 吗
我们要改启动脚本吗？
这个参数默认值是什么
为什么删掉这个环境变量
怎么升级
如何迁移
是否兼容旧版本
哪些接口被移除了
改了多少文件
改了几个文件
会不会影响性能
能不能直接升级
有没有破坏性变更
要不要改配置
那 ROCm 呢
我们要不要改启动脚本
影不影响 LoRA
谁改的
不知道会不会影响量化
想知道是否影响我们
今天有什么重要的提交
请问这个 flag 还能用吗？谢谢
"""
REMARKS = """
thanks!
LGTM
I know what you mean
that's why we pinned it
let's see how it goes
how nice
what a mess
what we did is pin it
which is why we pinned it
when I tried it, it broke
will do
will check tomorrow
can confirm
have a look
do not merge this
don't merge this yet
is fine on our side
was already fixed
should be fine
may be related
has been merged
did that yesterday
tell me more
please explain the change
in case it helps, here is the log
Let me know if you have any questions.
who knows
I don't know why
see https://example.com/?q=1
https://example.com/search?query=why
`a ? b : c`
```does this break?```
> does this break?
&gt; does this break?
?
???
+1
works for me :question:
哪里哪里
好的，谢谢
没什么
没有什么问题
我知道怎么改了
这就是为什么我们固定了版本
无论如何先合了
几乎没变
还没合呢
测试跑着呢
看看会不会挂
文档里写了如何配置
过几天再看
怎么都行
时不时会挂
多少有点慢
我试试能不能复现
收到
"""


@pytest.mark.parametrize("text", QUESTIONS.strip().split("\n"))
def test_a_question_is_told_by_its_mark_or_its_words(text: str) -> None:
    """A question is one with or without its question mark, in English and in Chinese."""
    assert reads_as_question(text)


@pytest.mark.parametrize("text", REMARKS.strip().split("\n"))
def test_a_remark_is_no_question(text: str) -> None:
    """Thanks, plans, indirect questions, code, quotations and addresses are left alone."""
    assert not reads_as_question(text)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    """Whatever people type, it is either a question or not, in some language, with references that stand in it."""
    assert reads_as_question(text) in (True, False)
    assert language_of(text, "zh") in ("zh", "en")
    assert all(each.lstrip("#").lower() in text.lower() for each in references_in(text))


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("does 4d95135 break us?", ["4d95135"]),
        ("4D95135 and 4d95135", ["4d95135"]),
        ("#33293，还有#7吗", ["#33293", "#7"]),
        ("PR 12, PR#13", ["#12", "#13"]),
        ("<https://github.com/o/n/pull/12/files#r1|the PR> and #12", ["https://github.com/o/n/pull/12", "#12"]),
        ("https://github.com/o/n/commit/4d95135aa, then", ["https://github.com/o/n/commit/4d95135aa"]),
        ("4d95137..abc1238", ["4d95137", "abc1238"]),
        ("看4d95135。", ["4d95135"]),
        ("1234567, abcdefa, deadbee1-cafe, x4d95135, sha256:4d95135aaaaa", []),
        ("#1.5, C#7, &#39;, #0, #fff000, v#", []),
        ("https://example.com/4d95135", []),
        ("a" * 38 + "12", ["a" * 38 + "12"]),
        ("a" * 39 + "12", []),
    ],
)
def test_references_are_found_as_people_write_them(text: str, references: list[str]) -> None:
    """SHAs, pull requests and addresses are found in order and once each, and nothing that only looks like one."""
    assert references_in(text) == references


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("does it?", "en"),
        ("会吗", "zh"),
        ("ROCm 呢？", "zh"),
        ("4d95135?", None),
        ("`foo bar`?", None),
        ("ROCm?", None),
    ],
)
def test_an_answer_is_in_the_language_of_the_question(question: str, language: Language | None) -> None:
    """Chinese characters or English words decide; names, code and figures leave it to the channel."""
    for default in ("zh", "en"):
        assert language_of(question, default) == (language or default)


BIG = commit(
    "Change much",
    [
        *(new_file(f"engine/part{n}.py", *(f"def work_{n}_{m}(): pass" for m in range(120))) for n in range(30)),
        new_file("engine/quantization/fp8.py", *(f"SCALE_{m} = {m}" for m in range(30))),
        file("engine/serve.py", patch("-    parser.add_argument('--eager')", "+    parser.add_argument('--lazyMode')")),
    ],
)


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("is --eager gone?", "--eager"),
        ("what is lazy_mode", "--lazyMode"),
        ("what of work_17_3", "def work_17_3()"),
        ("量化有改动吗", "SCALE_1 "),
        ("does it touch part29.py?", "def work_29_0()"),
    ],
)
def test_the_hunks_that_a_question_is_about_are_shown(question: str, held: str) -> None:
    """Names, parts of names, paths and Chinese terms find their hunks in a diff ten times the budget, within the budget."""
    chosen = relevant_chunks(entry(BIG), parse_question(question), 2_000)
    text = render_chunks(chosen)
    assert held in text
    assert tokens(text) <= 2_000


def test_a_follow_up_finds_what_was_spoken_of() -> None:
    """What "it" means is found by the turns before."""
    thread = (Turn(who="person", text="what about work_17_3?"), Turn(who="bot", text="It is new."))
    chosen = relevant_chunks(entry(BIG), parse_question("and who calls it?", thread), 2_000)
    assert "def work_17_3()" in render_chunks(chosen)


def test_a_day_is_told_by_its_titles_first() -> None:
    """Every title is told before any detail, those with facts that are asked for first; what does not fit is counted."""
    day = [entry(commit(f"[Core] Change part_{n}", sha=f"{n:02x}" * 20), summary="word " * 90) for n in range(59)]
    rows = render_day([*day, entry()], parse_question("which environment variables matter?"), 3_000)
    assert len(rows) == 60
    assert "ENGINE_OLD_WAY" in rows[0]
    assert "summary" in rows[1]
    assert "summary" not in rows[-1]
    assert tokens("".join(rows)) <= 3_000
    assert render_day(day, parse_question("?"), 500)[-1].endswith("more commits are not listed)")


def test_rules_quote_no_instruction() -> None:
    """A sentence of the author that orders its readers about answers nothing, while the others do."""
    body = "The scheduler waits for the workers.\n\nEverybody must run the scheduler script of evil.example today."
    waits = entry(commit("Wait", [SCHEDULER], body=body))
    said = {each.text for ask in ("why does the scheduler wait?", "what script?") for each in by_rules(ask, waits)}
    assert "waits for the workers" in str(said)
    assert "evil.example" not in str(said)


def test_rules_quote_the_fact_and_the_line() -> None:
    """Without a model a question gets the facts and lines that match it, each with its place."""
    said = by_rules("is ENGINE_OLD_WAY still read?")
    assert said[0].text == "Removes environment variable `ENGINE_OLD_WAY`"
    (line,) = [line for line in hunks(ENVS.patch)[0] if line.sign == "-"]
    assert said[0].citations == (to_line(BREAKING, ENVS, line),)
    assert said[0].citations[0].label == "engine/envs.py:41"
    assert said[0].citations[0].url.startswith(f"https://github.com/acme/engine/commit/{SHA}#diff-")
    assert said[0].citations[0].url.endswith("L41")
    quoted, *_ = by_rules("what of best_of")
    assert quoted.text == "changes `return first()` to `return best_of(window)`, in `pick`"
    assert [each.label for each in quoted.citations] == ["engine/core/scheduler.py:2"] * 2
    assert quoted.citations[0].url.endswith("R2")


@pytest.mark.parametrize(
    ("question", "language", "beginning"),
    [
        ("what does this do?", "en", "The commit's title is `[Core] Drop ENGINE_OLD_WAY (#12)`."),
        ("这个提交改了什么", "zh", "提交标题是 `[Core] Drop ENGINE_OLD_WAY (#12)`。"),
        ("要不要改启动脚本", "zh", "移除环境变量 `ENGINE_OLD_WAY`"),
        ("do we have to change our launch script?", "en", "Removes environment variable `ENGINE_OLD_WAY`"),
    ],
)
def test_rules_say_what_the_commit_is(question: str, language: Language, beginning: str) -> None:
    """A general question gets what the commit is, one about code the lines that match."""
    said = by_rules(question, language=language)
    assert said[0].text == beginning
    assert said[-1].citations


def test_what_a_model_wrote_answers_nothing() -> None:
    """Its analysis is no matching line; where the commit is described, it is marked, and left out in another language."""
    one = entry(summary="It changes the pick. Rebuild images for the tokenizer before upgrading.")
    assert [each.text for each in by_rules("what about the tokenizer?", one)] == [
        "Neither the diff (2 files) nor the message mentions `tokenizer`.",
        "The commit's title is `[Core] Drop ENGINE_OLD_WAY (#12)`.",
        "a model says: It changes the pick. Rebuild images for the tokenizer before upgrading.",
    ]
    (denial, _) = by_rules("tokenizer 呢", one, language="zh")
    assert denial.text.endswith("都没有提到 `tokenizer`。")


DAY = (
    entry(commit("[Docs] Fix a typo (#1)", [file("docs/a.md", patch("-a b", "+c d"))], sha="1a" * 20)),
    entry(),
    entry(commit("[Core] Tune the tokenizer (#3)", [file("engine/tok.py", patch("-aa", "+bb"))], sha="3a" * 20)),
)


@pytest.mark.parametrize(
    ("question", "language", "labels"),
    [
        ("which changes break us?", "en", [SHA[:7], "engine/envs.py:41"]),
        ("有哪些破坏性变更", "zh", [SHA[:7], "engine/envs.py:41"]),
    ],
)
def test_rules_name_the_commits_of_a_day_that_match(question: str, language: Language, labels: list[str]) -> None:
    """A question about a day gets its commits that match, by SHA, and where the diff proves it."""
    said = by_rules(question, *DAY, language=language)
    assert [each.label for statement in said for each in statement.citations] == labels


def test_rules_know_what_matters_on_a_day() -> None:
    """A general question gets the weightiest commits, and an empty day is said to be."""
    assert by_rules("what matters today?", *DAY)[0].text == "The most important commits:"
    (nothing,) = answered("what matters?")
    assert nothing.text == "There are no commits here."


def test_a_commit_that_was_not_read_is_known_by_its_title() -> None:
    """Where only the title is known, nothing more is said."""
    (said,) = by_rules("what does it break?", entry(commit("Do it", read=False)))
    assert "could not be read" in said.text


REPLY = """<think>Hm. Which one?</think>

Yes, e.g. `a. B` is gone [a.py:3]. The rest stays. [b.py:4] 中文一句 [c.py:1]。又一句。

- First item. It goes on
* Second [a.py:1]
1. Third

```python
x = 1

y = 2
```
The end"""


def test_a_reply_comes_apart_into_what_can_be_checked() -> None:
    """Sentences with their citations and items come out; code, and what was thought aloud, do not."""
    assert [(said.text, said.kind, said.new_paragraph) for said in segments(REPLY)] == [
        ("Yes, e.g. `a. B` is gone [a.py:3].", "sentence", False),
        ("The rest stays. [b.py:4]", "sentence", False),
        ("中文一句 [c.py:1]。", "sentence", False),
        ("又一句。", "sentence", False),
        ("First item.", "item", True),
        ("It goes on", "sentence", False),
        ("Second [a.py:1]", "item", False),
        ("Third", "item", False),
        ("The end", "sentence", True),
    ]


@given(st.text(st.sampled_from("aB `[]【】.。\n-1*~"), max_size=80))
def test_no_letter_of_a_reply_is_lost(reply: str) -> None:
    """However odd, a reply comes apart into segments that have its letters in their order."""
    told = "".join(said.text for said in segments(reply))
    letters = [each for each in reply if each in "aB"]
    assert [each for each in told if each in "aB"] == letters or "```" in reply or "~~~" in reply


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("does anything touch threading.Lock?", ("threading.Lock",)),
        ("有没有改到 `threading.Lock`？", ("threading.Lock",)),
        ("who changed --enforce-eager or VLLM_USE_V1?", ("--enforce-eager", "VLLM_USE_V1")),
        ("anything in pkg/engine/ or CacheManager, LLMEngine?", ("pkg/engine/", "CacheManager", "LLMEngine")),
        ("which plug-ins break, e.g. on ROCm, FP8 or CUDA? #12 too, and abc1234", ()),
        ("what matters today?", ()),
    ],
)
def test_names_of_code_are_told_from_words(question: str, names: tuple[str, ...]) -> None:
    """Symbols, flags, variables and paths are names; words with hyphens, abbreviations and references are not."""
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Does anything break engine?", True),
        ("what breaks `acme/engine` this week?", True),
        ("is acme/engine affected by this?", True),
        ("会影响 engine 吗？", True),
        ("Does anything break other/engine?", False),
        ("Does anything break engine-next?", False),
        ("which commits touch the engine?", False),
    ],
)
def test_a_question_what_breaks_a_repository_is_told_by_its_name(question: str, asks: bool) -> None:
    """In full or short, as what is broken; a longer name, or one of somebody else, is another."""
    assert asks_what_breaks(question, REPOSITORY.name, REPOSITORY.owner) is asks


@pytest.mark.parametrize(
    ("question", "language", "told"),
    [
        ("what replaces ENGINE_OLD_WAY?", "en", "Use `ENGINE_NEW_WAY` instead of `ENGINE_OLD_WAY`."),
        ("what should we set instead?", "en", "Use `ENGINE_NEW_WAY` instead of `ENGINE_OLD_WAY`."),
        ("ENGINE_OLD_WAY 用什么代替？", "zh", "请用 `ENGINE_NEW_WAY` 代替 `ENGINE_OLD_WAY`。"),
    ],
)
def test_a_replacement_that_the_author_names_is_told_first(question: str, language: Language, told: str) -> None:
    """Who asks what to use instead gets the name that the commit's texts give, with the place of what was removed."""
    named = commit("[Core] Drop ENGINE_OLD_WAY (#12)\n\nENGINE_OLD_WAY is replaced by ENGINE_NEW_WAY.", [ENVS])
    first, *_ = by_rules(question, entry(named), language=language)
    assert first.text == told
    assert [each.label for each in first.citations] == ["engine/envs.py:41"]
    unnamed = [each.text for each in by_rules(question, entry(), language=language)]
    assert not any("请用" in each or "instead" in each for each in unnamed)
    nothing = catalogue(language)("{name} is removed; no replacement for it was found.", name="`ENGINE_OLD_WAY`")
    assert "ENGINE_OLD_WAY" not in question or unnamed[0] == nothing


def test_a_notice_that_goes_with_a_name_says_what_to_use() -> None:
    """What stood beside the name that is removed is told, though it does not name it."""
    lines = (*ENVS_LINES[:1], "-    # Deprecated, see engine_config.", *ENVS_LINES[1:])
    noticed = commit("[Core] Drop it", [file("engine/envs.py", patch(*lines, old=40, new=40))])
    first, *_ = by_rules("what do I set instead of ENGINE_OLD_WAY?", entry(noticed))
    assert first.text.startswith("removes `# Deprecated, see engine_config.")


def test_a_trailer_is_not_denied() -> None:
    """Who signed off or wrote with the author is in the message, though nothing searches it."""
    told = commit("[Core] Drop ENGINE_OLD_WAY (#12)\n\nSigned-off-by: Quokka Lind <q@example.com>", [SCHEDULER])
    said = [each.text for each in by_rules("is it signed off by Quokka?", entry(told))]
    assert not any("mentions" in text for text in said)
    assert any(
        "mentions `ocelot`" in text for text in (each.text for each in by_rules("did Ocelot sign it?", entry(told)))
    )


def test_what_a_model_was_shown_can_be_said() -> None:
    """A commit of which it sees a row alone, also where a fact moves something to, a line that a tool showed as removed, a call's
    parentheses, and what files say of a name.
    """
    moved = Fact(kind=FactKind.MOVED_NAME, name="hold", path="engine/pool.py", line=3, new="engine/lanes.py:41")
    lanes = entry(commit("Give `LaneGroup` back", [file("engine/lanes.py")], sha="b" * 40))
    lanes = lanes.model_copy(update={"facts": (moved,)})
    checker = AnswerChecker(
        Question(parse_question("what about lanes?"), REPOSITORY, (entry(),), (lanes,)), (), "en", lambda: ""
    )
    lines = {-7: "    return first_lane()", 9: "# LaneGroup.first will be removed in v3"}
    checker.add(["`hold` is used in 28 lines"], [FileLines("engine/pool.py", lines, lanes.commit)])
    said = {
        "`LaneGroup` is back in `engine/lanes.py` [bbbbbbb].": ["bbbbbbb"],
        "`hold` is in `engine/lanes.py` by now [engine/lanes.py:41].": ["engine/lanes.py:41"],
        "It no longer calls `first_lane()` [engine/pool.py:7].": ["bbbbbbb"],
        "`hold` is used in 28 lines [bbbbbbb].": ["bbbbbbb"],
        "第 3、7 行用到它 [bbbbbbb].": ["bbbbbbb"],
        "`LaneGroup.first` will be removed in v3 [engine/pool.py:9].": ["engine/pool.py:9"],
    }
    for text, labels in said.items():
        [told] = [checker.check(each) for each in segments(text)]
        assert told
        assert told.text == text.rpartition(" [")[0] + "."
        assert [each.label for each in told.citations] == labels
