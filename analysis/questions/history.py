"""Questions about the history of a name: when it changed, who changed it last, what added or removed it."""

import re
from collections.abc import Callable, Iterable, Sequence

from analysis.citations import to_line
from analysis.diff import changed_lines, hunks
from analysis.impact.watch import touches
from analysis.models import OPERATIONAL, Commit, Entry, FileChange
from analysis.paths import Kind, kind
from analysis.questions.documents import Line
from analysis.questions.kinds_asked import REMOVED
from analysis.questions.query import name_key, names_in

_CHANGE = r"(?:chang|modif|touch|edit|add|introduc|remov|delet|drop|renam|mov|deprecat|disappear|appear|go(?:ne)?\b|went|break|broke|fix)"
_HAN_CHANGE = r"(?:改|加|新增|删|移除|去掉|引入|重命名|移动|废弃|弃用|出现|消失|没了|动)"
_SOME = r"[^?!。？！]{0,60}?"  # words in between
_ASKING = re.compile(
    rf"\b(?:when|since when)\b{_SOME}\b{_CHANGE}"
    rf"|\bwho\b{_SOME}\b{_CHANGE}|\b(?:which|what)\s+(?:(?:commit|change|pr|pull request)s?\s+)?(?:has\s+|have\s+)?"
    r"(?:added|introduced|removed|deleted|dropped|renamed|moved|deprecated|broke)\b"
    rf"|\bhistory of\b|\blast\s+{_CHANGE}"
    rf"|(?:什么时候|何时|哪天|哪一天|什么时间)[^，。？！]{{0,20}}?{_HAN_CHANGE}|{_HAN_CHANGE}[^，。？！]{{0,6}}?(?:什么时候|何时|哪天)"
    rf"|谁[^，。？！]{{0,6}}?{_HAN_CHANGE}|(?:哪个|哪次|哪些|什么)(?:提交|改动|PR|pr)[^，。？！]{{0,4}}?{_HAN_CHANGE}|的?(?:修改|变更)?历史",
    re.IGNORECASE,
)
_ADDING = re.compile(r"\b(?:add|introduc|first\b|since when)|新增|引入|加(?!载)|出现", re.IGNORECASE)
_QUOTED = re.compile(r"`([\w.-]+)`")
_OWNER = re.compile(
    r".*[.(](?!(?:pyi?|md|ya?ml|toml|txt|sh|json|cpp|cuh?|h)$)"
)  # what a name belongs to; of a file none
_ELSEWHERE = (Kind.TEST, Kind.DOCS, Kind.EXAMPLE)  # which stop mentioning what is still there


def asks_for_history(question: str) -> bool:
    """Return whether a question asks when, by whom or by which commit something was changed, whenever that was."""
    return _ASKING.search(question) is not None


def asks_for_origin(question: str) -> bool:
    """Return whether a question asks what first had something."""
    return _ADDING.search(question) is not None


def names_asked(question: str) -> tuple[str, ...]:
    """Return the symbols and flags that a question names: what is written as code, or can only be a name in code."""
    return tuple(dict.fromkeys((*_QUOTED.findall(question), *(each for each in names_in(question) if "/" not in each))))


def answering_history(question: str, names: Sequence[str], entries: Sequence[Entry]) -> list[Entry]:
    """Return the commits (with patches that touch the names) that answer a question, newest first.

    Of an addition those that add are left, the oldest first, unless none does.
    """
    newest = sorted(entries, key=lambda each: each.commit.committed_at, reverse=True)
    if asks_for_origin(question):
        return [each for each in newest if _balance(each.commit.files, names) > 0][::-1] or newest
    return newest


def removed_names(question: str) -> tuple[str, ...]:
    """Return the names of which a question asks what removed them, or whether anything did."""
    names, rest = names_asked(question), question
    for each in names:
        rest = rest.replace(each, " ")
    return names if REMOVED.search(rest) else ()


def is_proven_removal(entry: Entry, names: Sequence[str]) -> bool:
    """Return whether a commit removes one of the names, by its facts, or a file of that name."""
    files = (file.previous_path or file.path for file in entry.commit.files if file.status in ("removed", "renamed"))
    gone = [fact for fact in entry.facts if fact.removes or fact.kind.name.endswith("_REMOVED")]
    return any(f"/{path}".endswith(f"/{name}") for path in files for name in names) or any(
        _key(fact.name) == _key(name) and (fact.kind in OPERATIONAL or not name.startswith("-"))
        for fact in gone
        for name in names
    )


def removes_lines(entry: Entry, names: Sequence[str]) -> bool:
    """Return whether a commit (with patches) has fewer lines with the names than before."""
    return _balance((each for each in entry.commit.files if kind(each.path) not in _ELSEWHERE), names) < 0


def touched_line(commit: Commit, names: Sequence[str]) -> Line | None:
    """Return the most significant changed line of a commit (with patches) that touches one of the names."""
    for touch in touches(commit, names):
        for file in commit.files:
            for hunk in hunks(file.patch) if file.path == touch.path else ():
                for place, line in enumerate(hunk):
                    if line.sign != " " and to_line(commit, file, line).url == touch.url:
                        return Line(file, hunk, place)
    return None


def _key(name: str) -> str:
    return name_key(_OWNER.sub("", name))


def _balance(files: Iterable[FileChange], names: Sequence[str]) -> int:
    """Return how many more lines with the names are added to files than removed."""
    have = [_finder(name) for name in names]
    return sum(
        1 if line.sign == "+" else -1
        for file in files
        for line in changed_lines(file)
        if any(has(line.text) for has in have)
    )


def _finder(name: str) -> Callable[[str], bool]:
    """Return a predicate: whether a line has a name, in any spelling; one of a single word only as a whole word."""
    last, key = _OWNER.sub("", name).lstrip("-"), _key(name)
    if last.isalnum() and last.islower():
        whole = re.compile(rf"(?<![^\W_]){last}(?![^\W_])", re.IGNORECASE)
        return lambda text: whole.search(text) is not None
    return lambda text: key in name_key(text)
