"""Search in the evidence of a question: the best matching lines of a diff and commits of a day."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from analysis.diff import Chunk, DiffLine, hunks, tokens
from analysis.models import BREAKING, SHORT_SHA, Commit, Entry, Fact, FactKind, FileChange, Question
from analysis.paths import Kind, kind
from analysis.questions.intent import references_in
from analysis.wordlists import wordlist

_CHUNK = 40  # lines of a chunk; related lines are mostly closer
_LINE = 300  # characters of a line that are shown
_SUMMARY = 400  # characters of a summary in a day's list
_DECAY = 0.5  # weight of each earlier turn of a thread, relative to the next
_TURNS = 4
_PLURAL = 3  # a longer word that ends in s also matches without it
_PREFERENCE = {each: index for index, each in enumerate(Kind)}
_ENV = (FactKind.REMOVED_ENV, FactKind.RENAMED_ENV)
_KEY = (FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)
_FLAG = (FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG)

_API = BREAKING.difference(_ENV, _FLAG, _KEY, [FactKind.MINIMUM_RAISED, FactKind.SUPPORT_DROPPED])


class _Subject(NamedTuple):
    """A topic of questions: how people refer to it, the words that code uses for it, and its kinds of facts."""

    pattern: re.Pattern[str]
    words: tuple[str, ...]
    facts: tuple[FactKind, ...] = ()


def _subject(pattern: str, words: str, facts: Iterable[FactKind] = ()) -> _Subject:
    return _Subject(re.compile(pattern, re.IGNORECASE), tuple(words.split()), tuple(facts))


_SUBJECTS = (
    _subject(
        r"启动|脚本|命令行|\blaunch|entry ?point|command[- ]line|start(?:up|[- ]?script)",
        "launch entrypoint script argparse cli serve",
        (*_FLAG, *_ENV, FactKind.DEFAULT_CHANGED),
    ),
    _subject(
        r"破坏|不兼容|兼容|升级|迁移|\bbreak|incompatib|compatib|upgrad|migrat", "", (*BREAKING, FactKind.DEFAULT_CHANGED)
    ),
    _subject(r"参数|选项|开关|\bflags?\b|\boptions?\b|argument", "flag arg args argument option", _FLAG),
    _subject(r"默认|\bdefaults?\b", "default", (FactKind.DEFAULT_CHANGED,)),
    _subject(r"环境变量|environment|\benv\b", "env envs environ getenv", _ENV),
    _subject(r"配置|\bconfig", "config settings", (*_FLAG, *_ENV, *_KEY, FactKind.DEFAULT_CHANGED)),
    _subject(r"测试|\btests?\b", "test tests pytest", (FactKind.TEST_REMOVED,)),
    _subject(
        r"依赖|版本|\bdependenc|requirements|\bpinn?(?:s|ed)?\b",
        "requirements dependency pyproject",
        (
            FactKind.DEPENDENCY_ADDED,
            FactKind.DEPENDENCY_REMOVED,
            FactKind.DEPENDENCY_MOVED,
            FactKind.MINIMUM_RAISED,
        ),
    ),
    _subject(r"接口|\bapis?\b|plug-?ins?|插件", "api plugin", _API),
    _subject(r"安全|漏洞|\bsecur|\bvulnerab|\bcve", "security cve ghsa", (FactKind.SECURITY,)),
    _subject(r"并发|线程|死锁|竞争|加锁|\block|\bthread|\brace|concurren", "lock thread race async", (FactKind.CONCURRENCY,)),
    _subject(r"回退|回滚|\brevert", "revert", (FactKind.REVERT,)),
    _subject(r"量化|quanti[sz]", "quant quantization fp8 int8 awq gptq"),
    _subject(r"调度|schedul", "scheduler schedule sched"),
    _subject(r"显存|内存|memory|\boom\b", "memory mem gpu_memory cache"),
    _subject(r"缓存|\bcach", "cache caching"),
    _subject(r"注意力|\battention", "attention attn"),
    _subject(r"算子|内核|\bkernel", "kernel kernels ops csrc"),
    _subject(r"模型|\bmodels?\b", "model models"),
    _subject(r"编译|\bcompil", "compile compilation"),
    _subject(r"分布式|并行|\bparallel|distributed", "distributed parallel"),
    _subject(r"日志|\blogg?", "log logger logging"),
    _subject(r"镜像|容器|\bdocker|container", "docker dockerfile image"),
    _subject(r"分词|\btokeni[sz]er", "tokenizer tokenize"),
    _subject(r"采样|\bsampl", "sampler sampling sample"),
    _subject(r"请求|\brequests?\b", "request requests"),
    _subject(r"指标|监控|\bmetrics?\b", "metrics metric"),
    _subject(r"性能|速度|延迟|吞吐|\bperf|\bfaster\b|\bslower\b|latency|throughput", "perf performance fast latency throughput"),
    _subject(r"文档|\bdocs?\b", "docs doc readme"),
    _subject(r"量产|线上|生产|部署|\bdeploy", "deploy docker serve", (*_FLAG, *_ENV, FactKind.DEFAULT_CHANGED)),
)  # fmt: skip


STOPWORDS = wordlist("stopwords")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_WHOLE = re.compile(r"-{0,2}[A-Za-z_][\w./-]*[\w]", re.ASCII)
_NAME = re.compile(r"[_./]|^-|[A-Za-z][a-z]+[A-Z]|[A-Z]{2,}[a-z]{2,}")  # code, not a hyphenated word
_MIN_NAME = 3  # minimum letters and digits of a name
_WRITTEN = re.compile(f"{_WHOLE.pattern}/?", re.ASCII)
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,}")
_HAN_STOPWORDS = re.compile(
    r"什么|怎么|如何|为什么|为何|是否|哪些|哪个|多少|会不会|能不能|有没有|要不要|是不是|可以|我们|你们|他们|这个|那个|这次|提交|改动|修改|变更|影响|需要|一下|今天|昨天|请问"
    r"|告诉|知道|吗|呢|的|了|和|与|在|对|把|被|是|有|要|会|能|吧|啊|里|上|中"
)


_Place = tuple[str | None, int | None]


class Query(NamedTuple):
    """A parsed question: the weight of each word, the kinds of facts that answer it, the words of earlier turns."""

    words: Mapping[str, float]
    facts: frozenset[FactKind]
    earlier_words: Mapping[str, float] = MappingProxyType({})

    def __bool__(self) -> bool:
        return bool(self.words or self.facts or self.earlier_words)

    @property
    def with_earlier_words(self) -> "Query":
        """Return the query with the earlier words among its own."""
        return Query({**self.earlier_words, **self.words}, self.facts)


def parse_query(question: Question) -> Query:
    """Parse a question; earlier turns count too, so that "that flag" finds the flag."""
    facts = {each for subject in _SUBJECTS if subject.pattern.search(question.text) for each in subject.facts}
    earlier: dict[str, float] = {}
    for age, turn in enumerate(reversed(question.thread[-_TURNS:]), 1):
        for word, weight in _words_of(turn.text).items():
            earlier[word] = max(earlier.get(word, 0.0), weight * _DECAY**age)
    return Query(_words_of(question.text), frozenset(facts), earlier)


def _words_of(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for reference in references_in(text):  # a reference says which commit is meant, not what is asked about it
        text = re.sub(re.escape(reference), " ", text, flags=re.IGNORECASE)
    for text_match in _WHOLE.finditer(text):
        whole = text_match[0].strip("./-").lower()
        if re.search(r"[_/.-]", whole) or re.search(r"[a-z][A-Z]|\d", text_match[0]):
            found[whole] = 3.0
            found |= {part: 1.0 for part in parts(text_match[0]) - STOPWORDS if len(part) > 2 and part not in found}  # noqa: PLR2004
        elif whole not in STOPWORDS and len(whole) > 1:
            found[whole] = 2.0
            if len(whole) > _PLURAL and whole.endswith("s"):
                found.setdefault(whole[:-1], 1.5)
    for subject in _SUBJECTS:
        if subject.pattern.search(text):
            found |= {word: 1.0 for word in subject.words if word not in found}
    for run in _HAN_RUN.findall(_HAN_STOPWORDS.sub(" ", text)):
        found |= {run[place : place + 2]: 1.0 for place in range(len(run) - 1)}
    return found


def names_in(question: str) -> tuple[str, ...]:
    """Return the symbols, flags and paths that a question names, as written: `threading.Lock`, `--foo`, `pkg/core`."""
    for reference in references_in(question):
        question = question.replace(reference, " ")
    found = (text_match[0] for text_match in _WRITTEN.finditer(question))
    return tuple(
        dict.fromkeys(each for each in found if _NAME.search(each) and len(re.sub(r"\W", "", each)) >= _MIN_NAME)
    )


def parts(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, with names split: `KVCache_size` gives kv, cache and size."""
    return frozenset(
        word.lower()
        for run in _WORD.findall(text)
        for word in [run, *re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", run)]
    )


@lru_cache(maxsize=4096)
def _search_keys(text: str) -> frozenset[str]:
    """Return all keys by which a text can be found: its words, their parts, and its names as written."""
    names = {text_match[0].strip("./-").lower() for text_match in _WHOLE.finditer(text)}
    return parts(text) | names | {segment for name in names for segment in re.split(r"[/.]", name) if segment}


def text_match(query: Query, text: str) -> float:
    """Score a text against a query; 0 if nothing matches.

    Words of earlier turns add to the score, but match alone only if the question itself names nothing ("and why?").
    """
    own = _matched_weight(query.words, text)
    return own + _matched_weight(query.earlier_words, text) if own or not (query.words or query.facts) else 0.0


def _matched_weight(words: Mapping[str, float], text: str) -> float:
    held = _search_keys(text)
    return sum(weight for word, weight in words.items() if word in held or (not word.isascii() and word in text))


def fact_match(query: Query, fact: Fact) -> float:
    """Score a fact against a query."""
    return text_match(query, f"{fact.name} {fact.path or ''} {fact.old or ''} {fact.new or ''}") + (
        2.0 if fact.kind in query.facts else 0.0
    )


def chunks_of(commit: Commit) -> Iterator[Chunk]:
    """Yield the commit's diff in chunks, sources first."""
    for file in sorted(commit.files, key=lambda each: _PREFERENCE[kind(each.path)]):
        for hunk in hunks(file.patch):
            for start in range(0, len(hunk), _CHUNK):
                yield Chunk(file, hunk[start : start + _CHUNK])


def relevant_chunks(commit: Commit, facts: Sequence[Fact], query: Query, budget: int) -> list[Chunk]:
    """Select the chunks of a diff that fit `budget` tokens: best match first, then file order."""
    query = query.with_earlier_words
    proven: dict[_Place, float] = {(fact.path, fact.line): fact_match(query, fact) + 1.0 for fact in facts if fact.line}
    candidates = list(chunks_of(commit))
    ranked = sorted(range(len(candidates)), key=lambda place: (-_relevance(candidates[place], query, proven), place))
    selected, remaining = [], budget
    for place in ranked:
        cost = tokens(render_chunks([candidates[place]]))
        if cost <= remaining:
            selected.append(place)
            remaining -= cost
    return [candidates[place] for place in sorted(selected)]


def _relevance(chunk: Chunk, query: Query, proven: Mapping[_Place, float]) -> float:
    changed = " ".join(line.text for line in chunk.lines if line.sign != " ")
    context = " ".join(line.text for line in chunk.lines if line.sign == " ")
    places = {(path, line.number) for line in chunk.lines for path in (chunk.file.path, chunk.file.previous_path)}
    facts = sum(worth for place, worth in proven.items() if place in places)
    listed = 0.1 if kind(chunk.file.path) in (Kind.GENERATED, Kind.VENDORED) else 1.0
    return (
        listed
        * (text_match(query, changed) + 0.4 * text_match(query, context) + 0.6 * text_match(query, chunk.file.path))
        + facts
    )


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
    first = matching_entries(entries, query.with_earlier_words)
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


def matching_lines(commit: Commit, query: Query, limit: int) -> list[tuple[FileChange, DiffLine]]:
    """Return at most `limit` changed lines that match, the best first; lines whose path alone matches come last."""
    found = []
    for order, chunk in enumerate(chunks_of(commit)):
        by_path = 0.3 * text_match(query, chunk.file.path)
        for line in chunk.lines:
            has_word = re.search(r"\w{2}", line.text)
            relevance = text_match(query, line.text) + by_path if line.sign != " " and has_word else 0.0
            if relevance:
                found.append((-relevance, order, -ord(line.sign), line.number, chunk.file, line))
    seen: dict[str, tuple[FileChange, DiffLine]] = {}
    for *_, file, line in sorted(found, key=lambda each: each[:4]):
        seen.setdefault(line.text.strip(), (file, line))
    return list(seen.values())[:limit]


def matching_entries(entries: Sequence[Entry], query: Query) -> list[Entry]:
    """Return the matching commits of a day, the best first; equal matches are ordered by rank."""
    relevance = {id(entry): _entry_relevance(entry, query) for entry in entries}
    return sorted(
        (each for each in entries if relevance[id(each)]), key=lambda each: (-relevance[id(each)], -each.ranked.score)
    )


def _entry_relevance(entry: Entry, query: Query) -> float:
    commit = entry.commit
    description = f"{commit.body} {commit.pull.body if commit.pull else ''}"
    analysis = entry.analysis
    analysis_text = " ".join((analysis.summary, *analysis.scope, *analysis.advice)) if analysis else ""
    return (
        2 * text_match(query, commit.title)
        + text_match(query, " ".join(commit.paths))
        + text_match(query, analysis_text)
        + 0.5 * text_match(query, description)
        + sum(fact_match(query, fact) for fact in entry.facts)
    )
