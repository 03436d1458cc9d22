"""The suspects of sentences in which maintainers of plug-ins told what had broken, against the commits that they blamed.

Those of tracebacks are in `tracebacks`.
"""

import json
import os
import re
import subprocess
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from analysis.search.reports import clues_of, parse_report
from analysis.search.suspects import rank_suspects
from analysis.search.words import IndexedCommit, names, searchable, split_words
from analysis.wordlists import wordlist
from tests.bench.figures import Row, percentile, tails
from tests.bench.plugins import BELIEVED, months
from tests.bench.real_diffs import CLONE, real_day, shown_commit
from tests.bench.tracebacks import document, traceback_suspects

BREAKS = (
    "BENCH_BREAKS"  # the variable that names the file of sentences: downstream-breaks.jsonl with the maintainers' words
)

_DAYS = 90
_FIRST, _IN_FIVE = 0.55, 0.80
_SECONDS = 1.5
_COMMON = 0.03  # share of the sentences that have a word which says nothing
_TELLING = 2  # other words that a sentence must have
_TRAILER = re.compile(
    r"(signed-off-by|co-authored-by):.*?(?=$|signed-off-by|co-authored-by)", re.IGNORECASE | re.MULTILINE
)
_REFERENCE = re.compile(r"\S*github\.com/\S+|https?://\S+|\b[0-9a-f]{7,40}\b|#?\b(?:pr)?\d[\d.]*\b", re.IGNORECASE)


class Case(NamedTuple):
    """A sentence without links, numbers and hashes, the end of the day of the fix, the SHAs blamed, the plug-in's name."""

    text: str
    until: datetime
    blamed: frozenset[str]
    downstream: str


class Corpus(NamedTuple):
    """Commits by date, oldest first: their SHAs and words."""

    shas: Sequence[str]
    documents: Sequence[IndexedCommit]

    def period(self, until: datetime, days: int) -> Sequence[IndexedCommit]:
        first, end = (
            bisect_left(self.documents, at, key=lambda each: each.committed_at)
            for at in (until - timedelta(days=days), until)
        )
        return self.documents[first:end]


def suspects(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """The sentences of the months that the settings name, or made-up ones about the sample's commits."""
    if settings.get(CLONE) and settings.get(BREAKS):
        rows = [json.loads(line) for line in Path(settings[BREAKS]).read_text("utf-8").splitlines()]
        chosen = months(settings)
        corpus, told = _of_clone(settings[CLONE], min(chosen)), f"of {', '.join(chosen)}"
        cases = _cases([row for row in rows if row.get("sentence")], corpus, chosen)
    else:
        corpus, cases = _made_up()
        told = f"made up; {CLONE}=PATH[@REF] and {BREAKS}=FILE take real ones"
    yield Row(f"{len(cases)} sentences {told}", "", f"{len(corpus.shas):,} commits")
    yield from _judged(corpus, cases)
    yield from traceback_suspects(settings)


def _judged(corpus: Corpus, cases: Sequence[Case]) -> Iterator[Row]:
    found, taken = [], []
    for case in cases:
        began = perf_counter()
        ranked = [corpus.shas[each] for each in _ranked(corpus, case)]
        taken.append(perf_counter() - began)
        found.append(next((place for place, sha in enumerate(ranked) if sha in case.blamed), len(corpus.shas)))
    for limit, told, aim in ((1, "first", _FIRST), (5, "in five", _IN_FIVE)):
        hits = sum(each < limit for each in found)
        share = hits / max(1, len(cases))
        compared = f"{hits} of {len(cases)}"
        yield Row(f"  {told}", f"{share:.2f}", compared, "", f">= {aim:.2f}", share >= aim, measured=True)
    met = percentile(taken, 0.5) < _SECONDS
    yield Row("  time", tails(taken), aim=f"< {_SECONDS} s", met=met, measured=True)


def _ranked(corpus: Corpus, case: Case) -> list[int]:
    package = case.downstream.partition("-")[0]
    clues = clues_of(parse_report(case.text), [package], ignored=split_words(case.downstream))
    return [each.id for each in rank_suspects(clues, corpus.period(case.until, _DAYS), case.until)]


def _cases(rows: Sequence[Mapping[str, Any]], corpus: Corpus, chosen: Collection[str]) -> list[Case]:
    """The sentences that say more than that something was fixed, about commits of the chosen months.

    A sentence must have two words that few other sentences and at least one commit have.
    """
    sentences = {row["sentence"] for row in rows}
    common = Counter(word for each in sentences for word in set(split_words(searchable(_bare(each)))))
    known = {word for each in corpus.documents for field in each[2:] for word in split_words(field)}
    blamed: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row["attribution"] in BELIEVED and row["upstream_date"][:7] in chosen:
            blamed[row["downstream"], row["downstream_date"], row["sentence"]].add(row["upstream_sha"])
    cases = []
    for (downstream, day, sentence), shas in blamed.items():
        until = datetime.combine(date.fromisoformat(day), time(), UTC) + timedelta(days=1)
        recent = shas & {corpus.shas[each.id] for each in corpus.period(until, _DAYS)}
        words = set(split_words(searchable(_bare(sentence)))) - wordlist("stopwords")
        telling = {each for each in words & known if common[each] < _COMMON * len(sentences)}
        if recent and len(telling) >= _TELLING:
            cases.append(Case(_bare(sentence), until, frozenset(recent), downstream.partition("/")[2]))
    return cases


def _bare(sentence: str) -> str:
    return _REFERENCE.sub(" ", _TRAILER.sub(" ", sentence))


def _of_clone(place: str, first_month: str) -> Corpus:
    """The commits of a clone's branch from the days before a month on."""
    clone, _, ref = place.partition("@")
    since = date.fromisoformat(f"{first_month}-01") - timedelta(days=_DAYS + 1)
    command = ["git", "-C", clone, "log", "--first-parent", f"--since={since}", "--format=%H %ct", ref or "HEAD", "--"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    dated = sorted((int(at), sha) for sha, at in map(str.split, listed))
    with ThreadPoolExecutor(2) as pool:
        shown = pool.map(lambda each: shown_commit(Path(clone), each[1]), dated)
        documents = [
            document(number, each, datetime.fromtimestamp(at, UTC))
            for number, (each, (at, _)) in enumerate(zip(shown, dated, strict=True))
        ]
    return Corpus([sha for _, sha in dated], documents)


def _made_up() -> tuple[Corpus, list[Case]]:
    """The sample's commits, and about each a sentence with a name of its changed lines."""
    day = date(2026, 2, 5)
    until = datetime.combine(day, time(), UTC) + timedelta(days=1)
    commits = real_day(day, 28, {}).commits
    documents = [document(number, each, until - timedelta(hours=30 - number)) for number, each in enumerate(commits)]
    corpus = Corpus([each["sha"] for each in commits], documents)
    named = [[name for name in names(each.code) if "_" in name.strip("_")] for each in documents]
    cases = [
        Case(f"Fix {own[0]} and {own[-1]}, broken since today", until, frozenset([corpus.shas[number]]), "lantern-npu")
        for number, own in enumerate(named)
        if own
    ]
    return corpus, cases
