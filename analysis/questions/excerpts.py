"""The evidence of a question for a model: the best matching parts of a diff, or the commits of a day."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC

from analysis.diff import Chunk, hunks, tokens
from analysis.models import SHORT_SHA, Commit, Entry
from analysis.paths import Kind, kind
from analysis.questions.documents import words_of
from analysis.questions.query import Query, Term
from analysis.questions.search import line_scores

_CHUNK = 40  # lines of a chunk; related lines are mostly closer
_LINE = 300  # characters of a line that are shown
_SUMMARY = 400  # characters of a summary in a day's list
_PREFERENCE = {each: index for index, each in enumerate(Kind)}


def chunks_of(commit: Commit) -> Iterator[Chunk]:
    """Yield the commit's diff in chunks, sources first."""
    for file in sorted(commit.files, key=lambda each: _PREFERENCE[kind(each.path)]):
        for hunk in hunks(file.patch):
            for start in range(0, len(hunk), _CHUNK):
                yield Chunk(file, hunk[start : start + _CHUNK])


def relevant_chunks(entry: Entry, query: Query, budget: int) -> list[Chunk]:
    """Select the chunks of a diff that fit `budget` tokens: best match first, then file order."""
    scores = line_scores(entry, query)
    candidates = list(chunks_of(entry.commit))
    ranked = sorted(range(len(candidates)), key=lambda place: (-_relevance(candidates[place], scores), place))
    selected, remaining = [], budget
    for place in ranked:
        cost = tokens(render_chunks([candidates[place]]))
        if cost <= remaining:
            selected.append(place)
            remaining -= cost
    return [candidates[place] for place in sorted(selected)]


def _relevance(chunk: Chunk, scores: Mapping[tuple[str, int, str], float]) -> float:
    found = sorted((scores.get((chunk.file.path, line.number, line.sign), 0.0) for line in chunk.lines), reverse=True)
    return sum(found[:3])  # one long chunk of weak matches is worth less than the line that answers


def render_chunks(chosen: Sequence[Chunk]) -> str:
    """Render chunks for a model: a header for each file, then each line with its sign and number."""
    rows: list[str] = []
    for index, chunk in enumerate(chosen):
        if index == 0 or chunk.file is not chosen[index - 1].file:
            rows.append(f"\n{chunk.file.path}")
        elif chunk.lines[0].number != chosen[index - 1].lines[-1].number + 1:
            rows.append("...")
        rows += [f"{line.sign} {line.number} | {line.text[:_LINE]}" for line in chunk.lines]
    return "\n".join(rows)


def render_day(entries: Sequence[Entry], query: Query, budget: int) -> list[str]:
    """Render a day's commits for a model, one row each: matching ones first, then by score; all titles, if they fit.

    Details beyond the title are added while `budget` (tokens) lasts.
    """
    first = matching_entries(entries, Query(query.all_terms, asked=query.asked))
    listed = {id(entry) for entry in first}
    ordered = first + sorted((each for each in entries if id(each) not in listed), key=lambda each: -each.ranked.score)
    titles = [
        f"{each.commit.short_sha} {each.ranked.importance.value} | {each.commit.title[:_LINE]}" for each in ordered
    ]
    remaining, rows = budget, []
    for title in titles:
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
    facts = "; ".join(f"{fact.kind.value} {fact.name} [{fact.place}]" for fact in entry.facts[:6])
    reasons = "; ".join(reason.signal for reason in entry.ranked.reasons[:3])
    summary = entry.analysis.summary[:_SUMMARY] if entry.analysis else ""
    files = ", ".join(entry.commit.paths[:6])
    commit, reverted_by = entry.commit, entry.links.reverted_by
    landed = f"{commit.committed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    details = (
        ("author", commit.author),
        ("landed", landed),
        ("reverted by", reverted_by[:SHORT_SHA] if reverted_by else ""),
        ("summary", summary),
        ("proven", facts),
        ("ranked by", reasons),
        ("files", files),
    )
    return "".join(f" | {name}: {text}" for name, text in details if text)


def matching_entries(entries: Sequence[Entry], query: Query) -> list[Entry]:
    """Return the matching commits of a day, the best first; equal matches are ordered by rank."""
    relevance = {id(entry): _entry_relevance(entry, query) for entry in entries}
    return sorted(
        (each for each in entries if relevance[id(each)]), key=lambda each: (-relevance[id(each)], -each.ranked.score)
    )


def _entry_relevance(entry: Entry, query: Query) -> float:
    commit, analysis = entry.commit, entry.analysis
    texts = (
        (2.0, commit.title),
        (1.0, " ".join(commit.paths)),
        (1.0, " ".join((analysis.summary, *analysis.scope, *analysis.advice)) if analysis else ""),
        (0.5, f"{commit.body} {commit.pull.body if commit.pull else ''}"),
        *((1.0, f"{fact.name} {fact.path or ''} {fact.old or ''} {fact.new or ''}") for fact in entry.facts),
    )
    relevance = sum(weight * _held(query.terms, text) for weight, text in texts)
    return relevance + 2.0 * sum(fact.kind in query.kinds for fact in entry.facts)


def _held(terms: Sequence[Term], text: str) -> float:
    words = words_of(re.sub(r"\s+", " ", text))
    return sum(
        term.weight * max((weight for word, weight in term.words.items() if word in words), default=0.0)
        for term in terms
    )
