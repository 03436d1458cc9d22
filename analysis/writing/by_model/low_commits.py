"""Summaries of a day's commits of low importance in one call of a model, each checked against its own commit, and read again in one."""

from collections.abc import Sequence

from analysis.diff import Excerpt, excerpt
from analysis.errors import ModelFailure
from analysis.locale import Phrase
from analysis.models import Commit
from analysis.writing.by_model.asking import Asker, Form
from analysis.writing.by_model.replies import Analysed, AnalysisRequest, Brief, check_reply, read_again

AT_ONCE = 60  # commits of one call
_BUDGET = 36_000  # tokens of the diffs of one call
_LONGEST = 3_000  # tokens of one diff
_MAX_REPLY, _MAX_TEXT = 110, 300  # tokens of the reply a commit, and of all else in it
_CHARACTERS = 2  # of a message or a pull request's text for each token of diff that a commit may have


class _LowCommit(Brief):
    commit: str


class _LowCommits(Form):
    commits: list[_LowCommit]


def analyse_low(requests: Sequence[AnalysisRequest], asker: Asker) -> list[Analysed | ModelFailure]:
    """Return the analysis of each commit, or why there is none; of one day and language, at most `AT_ONCE`.

    Raises `ModelFailure` if there is no reply.
    """
    repository, language = requests[0].repository.full_name, requests[0].language
    shown = _share([each.commit for each in requests])
    length = _CHARACTERS * min(_LONGEST, _BUDGET // len(requests))
    told = [each.values(shown[each.commit.sha], length) for each in requests]
    messages = asker.prompt("system.j2", "low.j2", language, repository=repository, commits=told)
    reply = asker.ask(messages, _LowCommits, _MAX_TEXT + _MAX_REPLY * len(requests))
    written = {each.commit.strip("`")[:7]: each for each in reversed(reply.commits)}
    drafts = [_checked(each, written.get(each.commit.short_sha[:7]), shown[each.commit.sha]) for each in requests]
    kept = [(each, made) for each, made in zip(requests, drafts, strict=True) if isinstance(made, Analysed)]
    left = iter(read_again(kept, messages, asker))
    return [next(left) if isinstance(each, Analysed) else each for each in drafts]


def _checked(request: AnalysisRequest, written: _LowCommit | None, shown: Excerpt) -> Analysed | ModelFailure:
    if written is None:
        return ModelFailure(Phrase("the reply left out the commit"))
    try:
        return check_reply(written, request, request.corpus(), shown.left_out)
    except ModelFailure as exc:
        return exc


def _share(commits: Sequence[Commit]) -> dict[str, Excerpt]:
    """Return SHA -> excerpt, within one budget: what short diffs leave is for the longer ones."""
    found: dict[str, Excerpt] = {}
    for commit in sorted(commits, key=lambda each: sum(len(file.patch or "") for file in each.files)):
        left = _BUDGET - sum(each.tokens for each in found.values())
        found[commit.sha] = excerpt(commit, min(_LONGEST, max(0, left) // (len(commits) - len(found))))
    return found
