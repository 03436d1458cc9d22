"""The prompt of a question: the rules, the evidence and the thread as delimited data, and the question last.

The evidence is the best matching parts of diffs, or the commits of a day.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

from analysis.diff import Chunk, headed_hunks, tokens
from analysis.locale import catalogue, mark
from analysis.models import SHORT_SHA, Commit, Entry, Importance, Language, Statement, Turn
from analysis.paths import Kind, kind
from analysis.questions.by_rules import NOT_SHOWN, OFF_TOPIC
from analysis.questions.evidence import line_scores
from analysis.questions.kinds import QuestionKind
from analysis.questions.metadata import records
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.tools import MAX_CALLS
from analysis.text import one_line
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import ModelMessage

_MAX_TEXT = 2_000  # characters of a question or a turn
_EVIDENCE_BUDGET = 6_000  # tokens of diff, or of a day's rows
_THREAD_BUDGET = 1_500  # tokens of the thread
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text
_MAX_PATHS, _MAX_FACTS = 60, 30
_CHUNK = 40  # lines of a chunk; related lines are mostly closer
_BEST_LINES = 3  # of a chunk, whose scores count
_LINE = 300  # characters of a line that are shown
_SUMMARY, _BODY = 400, 200  # characters of a summary, or of the author's message without one, in a list
_PREFERENCE = {each: index for index, each in enumerate(Kind)}


# What a model answers where neither the commits nor the repository show what is asked.
NOT_FOUND = mark("I found nothing about this in the repository.")


class Prompt(NamedTuple):
    """The rules for a model, by whether it has tools, the evidence with the question, and the chunks of diffs in it."""

    rules: Mapping[bool, str]
    evidence: str
    chunks: Sequence[Chunk]

    def messages(self, *, with_tools: bool) -> "list[ModelMessage]":
        """Return the messages that begin a conversation."""
        from analysis.llm import ModelMessage

        return [ModelMessage("system", self.rules[with_tools]), ModelMessage("user", self.evidence)]


def answer_prompt(
    question: Question,
    language: Language,
    nonce: str,
    canary: str,
    found: Sequence[Statement] = (),
    at: str = "",
    own: Sequence[str] = (),
) -> Prompt:
    """Return the prompt of a question, with what rules `found` for it; `nonce` delimits what is data, and `canary` must not come back.

    Tools read the files `at` a commit, and `own` trees, by name.
    """
    say, asked, entries = catalogue(language), question.asked, question.entries
    single = entries[0] if len(entries) == 1 else None
    diffs = entries if single or question.further_commits is not None else ()
    by_commit = [(each.commit, relevant_chunks(each, asked, _EVIDENCE_BUDGET // len(diffs))) for each in diffs]
    chosen = [piece for _, pieces in by_commit for piece in pieces]
    nothing = NOT_SHOWN if single and question.further_commits is None else NOT_FOUND
    rules = {
        bool(calls): rendered(
            "answer.j2",
            language=language,
            single=single is not None,
            repository=question.repository.full_name,
            nonce=nonce,
            canary=canary,
            not_shown=say(nothing),
            off_topic=say(OFF_TOPIC),
            calls=calls,
            at=at,
            own=own,
        )
        for calls in (MAX_CALLS, 0)
    }
    user = rendered(
        "answer_user.j2",
        **(_commit_evidence(single, asked, chosen, language) if single else _day_evidence(question)),
        found=[" ".join([each.text, *(f"[{place.label}]" for place in each.citations)]) for each in found],
        diff="\n".join(
            ("" if single else f"\n{commit.short_sha}:\n") + render_chunks(pieces)
            for commit, pieces in by_commit
            if pieces
        ),
        nonce=nonce,
        language=language,
        turns=_recent_turns(asked.thread),
        question=asked.text[:_MAX_TEXT],
    )
    return Prompt(rules, user, chosen)


def _day_evidence(question: Question) -> dict[str, object]:
    entries = question.listed
    tiers = [entry.ranked.importance for entry in entries]
    counts = {tier.value: tiers.count(tier) for tier in Importance}
    rows = render_day(entries, question.asked, _EVIDENCE_BUDGET, best_first=question.further_commits is not None)
    return {"rows": rows, "total": len(tiers), **counts}


def _commit_evidence(
    entry: Entry, asked: ParsedQuestion, chosen: Sequence[Chunk], language: Language
) -> dict[str, object]:
    commit, say = entry.commit, catalogue(language)
    pull = commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE_LENGTH]})
    return {
        "commit": commit.model_copy(update={"message": commit.message[:_MESSAGE_LENGTH], "pull": pull}),
        "importance": entry.ranked.importance.value,
        "known": [f"{each.text} [{each.label}]" for each in records(entry, language, asked.versions)],
        "facts": [
            f"{FACT_SENTENCES[each.kind].named(each.name, 1, say)} [{each.place}]" for each in entry.facts[:_MAX_FACTS]
        ],
        "paths": ", ".join(commit.paths[:_MAX_PATHS]),
        "cut": len(chosen) < sum(1 for _ in chunks_of(commit)),
    }


def _recent_turns(thread: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that fit, oldest first; a long turn is shortened so that earlier ones fit."""
    turns: list[Turn] = []
    remaining = _THREAD_BUDGET
    for turn in reversed(thread):
        text = turn.text[:_MAX_TEXT]
        remaining -= tokens(text)
        if remaining < 0:
            break
        turns.insert(0, turn.model_copy(update={"text": text}))
    return turns


def chunks_of(commit: Commit) -> Iterator[Chunk]:
    """Yield the commit's diff in chunks, sources first."""
    for file in sorted(commit.files, key=lambda each: _PREFERENCE[kind(each.path)]):
        for hunk in headed_hunks(file.patch):
            for start in range(0, len(hunk.lines), _CHUNK):
                yield Chunk(file, hunk.heading, hunk.lines[start : start + _CHUNK])


def relevant_chunks(entry: Entry, asked: ParsedQuestion, budget: int) -> list[Chunk]:
    """Select the chunks of a diff that fit `budget` tokens: best match first, then file order."""
    scores = line_scores(entry, asked)
    candidates = list(chunks_of(entry.commit))

    def relevance(place: int) -> float:
        path, lines = candidates[place].file.path, candidates[place].lines
        # One long chunk of weak matches is worth less than the line that answers.
        return sum(sorted((scores.get((path, line.number), 0.0) for line in lines), reverse=True)[:_BEST_LINES])

    selected, remaining = [], budget
    for place in sorted(range(len(candidates)), key=relevance, reverse=True):
        cost = tokens(render_chunks([candidates[place]]))
        if cost <= remaining:
            selected.append(place)
            remaining -= cost
    return [candidates[place] for place in sorted(selected)]


def render_chunks(chosen: Sequence[Chunk]) -> str:
    """Render chunks for a model: each file's path, the heading of each hunk, then each line with its sign and number."""
    rows: list[str] = []
    for before, chunk in zip([None, *chosen], chosen, strict=False):
        is_same_file = before is not None and chunk.file is before.file
        if not is_same_file:
            rows.append(f"\n{chunk.file.path}")
        if before is None or not is_same_file or chunk.lines[0].number != before.lines[-1].number + 1:
            rows.append(f"@@ {chunk.heading}".rstrip())
        rows += [f"{line.sign} {line.number} | {line.text[:_LINE]}" for line in chunk.lines]
    return "\n".join(rows)


def render_day(entries: Sequence[Entry], asked: ParsedQuestion, budget: int, *, best_first: bool = False) -> list[str]:
    """Render commits for a model, one row each: unless the best are first, those with facts that are asked for, then by score.

    All titles come before details, which are added while `budget` (tokens) lasts.
    """

    def preference(entry: Entry) -> tuple[int, float]:
        return sum(fact.kind in asked.facts.kinds for fact in entry.facts), entry.ranked.score

    ordered = entries if best_first else sorted(entries, key=preference, reverse=True)
    remaining, rows = budget, list[str]()
    for entry in ordered:
        title = f"{entry.commit.short_sha} {entry.ranked.importance.value} | {entry.commit.title[:_LINE]}"
        remaining -= tokens(title)
        if remaining < 0:
            break
        rows.append(title)
    for index, entry in enumerate(ordered[: len(rows)]):
        details = _details(entry)
        remaining -= tokens(details)
        if remaining < 0:
            break
        rows[index] += details
    left = len(ordered) - len(rows)
    return [*rows, f"({left} more commits are not listed)"] if left else rows


def _details(entry: Entry) -> str:
    commit, reverted_by = entry.commit, entry.links.reverted_by
    details = {
        "author": f"{commit.author} [{commit.short_sha}:{QuestionKind.AUTHOR}]",
        "landed": f"{commit.committed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC [{commit.short_sha}:{QuestionKind.DATE}]",
        "reverted by": reverted_by[:SHORT_SHA] if reverted_by else "",
        "summary": entry.analysis.summary[:_SUMMARY] if entry.analysis else one_line(commit.body)[:_BODY],
        "proven": "; ".join(f"{fact.kind.value} {fact.name} [{fact.place}]" for fact in entry.facts[:6]),
        "ranked by": "; ".join(reason.signal for reason in entry.ranked.reasons[:3]),
        "files": ", ".join(commit.paths[:6]),
    }
    return "".join(f" | {name}: {text}" for name, text in details.items() if text)
