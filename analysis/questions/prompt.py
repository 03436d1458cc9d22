"""The prompt of a question: the rules, the evidence and the thread as delimited data, and the question last."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.diff import Chunk, tokens
from analysis.locale import catalogue
from analysis.models import Entry, Importance, Language, Question, Turn
from analysis.questions.by_rules import NOT_SHOWN, OFF_TOPIC
from analysis.questions.excerpts import chunks_of, relevant_chunks, render_chunks, render_day
from analysis.questions.metadata import records
from analysis.questions.query import parse_query
from analysis.questions.tools import MAX_CALLS
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import Message

MAX_QUESTION = 2_000  # characters

_EVIDENCE_BUDGET = 6_000  # tokens of diff, or of a day's rows
_THREAD_BUDGET = 1_500  # tokens of the thread
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text
_MAX_PATHS = 60


class Prompt(NamedTuple):
    """The rules for a model with tools and for one without, the evidence with the question, and the chunks of diffs in it."""

    rules_with_tools: str
    rules_alone: str
    evidence: str
    chunks: Sequence[Chunk]

    def messages(self, *, with_tools: bool) -> "list[Message]":
        """Return the messages that begin a conversation."""
        from analysis.llm import Message

        rules = self.rules_with_tools if with_tools else self.rules_alone
        return [Message("system", rules), Message("user", self.evidence)]


def answer_prompt(question: Question, language: Language, nonce: str, canary: str) -> Prompt:
    """Return the prompt of a question; `nonce` delimits what is data, and `canary` must not come back."""
    say, query = catalogue(language), parse_query(question)
    single = question.entries[0] if len(question.entries) == 1 else None
    diffs = question.entries if single or question.further_commits is not None else ()
    chosen = [piece for each in diffs for piece in relevant_chunks(each, query, _EVIDENCE_BUDGET // len(diffs))]
    with_tools, alone = (
        rendered(
            f"answer.{language}.j2",
            single=single is not None,
            repository=question.repository.full_name,
            nonce=nonce,
            canary=canary,
            not_shown=say(NOT_SHOWN),
            off_topic=say(OFF_TOPIC),
            calls=calls,
        )
        for calls in (MAX_CALLS, 0)
    )
    evidence = (
        _commit_evidence(single, chosen, language)
        if single
        else {
            "rows": render_day(question.entries, query, _EVIDENCE_BUDGET),
            "diff": render_chunks(chosen),
            **_tiers(question.entries),
        }
    )
    user = rendered(
        "answer_user.j2",
        **evidence,
        nonce=nonce,
        language=language,
        turns=_recent_turns(question.thread),
        question=question.text,
    )
    return Prompt(with_tools, alone, user, chosen)


def _tiers(entries: Sequence[Entry]) -> dict[str, int]:
    tiers = [entry.ranked.importance for entry in entries]
    return {"total": len(tiers), **{tier.value: tiers.count(tier) for tier in Importance}}


def _commit_evidence(entry: Entry, chosen: Sequence[Chunk], language: Language) -> dict[str, object]:
    commit, analysis, say = entry.commit, entry.analysis, catalogue(language)
    pull = commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE_LENGTH]})
    analysis_texts = [analysis.summary, *(each.risk for each in analysis.risks), *analysis.advice] if analysis else []
    return {
        "rows": [],
        "commit": commit.model_copy(update={"message": commit.message[:_MESSAGE_LENGTH], "pull": pull}),
        "importance": entry.ranked.importance.value,
        "known": [f"{each.text} [{each.label}]" for each in records(entry, language)],
        "facts": [f"{FACT_SENTENCES[each.kind].named(each.name, 1, say)} [{each.place}]" for each in entry.facts[:30]],
        "said": analysis_texts,
        "paths": ", ".join(commit.paths[:_MAX_PATHS]),
        "diff": render_chunks(chosen),
        "cut": len(chosen) < sum(1 for _ in chunks_of(commit)),
    }


def _recent_turns(thread: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that fit, oldest first; a long turn is shortened so that earlier ones fit."""
    turns: list[Turn] = []
    remaining = _THREAD_BUDGET
    for turn in reversed(thread):
        text = turn.text[:MAX_QUESTION]
        remaining -= tokens(text)
        if remaining < 0:
            break
        turns.insert(0, turn.model_copy(update={"text": text}))
    return turns
