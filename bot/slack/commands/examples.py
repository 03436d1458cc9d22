"""Examples of commands, from the repositories that a channel subscribes to, so that they work when copied."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analysis.locale import catalogue, mark
from analysis.models import Commit, Language, Repository
from bot.slack.bot import Bot

_PLAIN = re.compile(r"[\w-]+(?:[/.][\w-]+)+", re.ASCII)  # a path that can be typed verbatim
_WEEK = timedelta(days=6)
_RECENT = 20  # recent commits to search for an example
_FORMS = (  # of commands, and what they give, both with placeholders for `Examples`
    ("{day}", mark("a day's digest (also today, yesterday, -3, mon)")),
    ("{first}..{day}", mark("the statistics of some days")),
    ("{sha}", mark("a commit (a SHA, #{pr}, or its address)")),
    ("search {words}", mark("find commits")),
    ("{name} {day}", mark("a repository may come first")),
    (
        "subscribe at 09:00 min medium paths {folder}/**",
        mark("a digest each day here (also tz, lang; unsubscribe, subscriptions, status)"),
    ),
    (
        "subscribe watch {folder}/, SOME_VARIABLE, Class.method, --some-flag",
        mark("what touches these paths, names, variables or flags is of high importance here"),
    ),
)


class Examples(NamedTuple):
    """Values for the command examples; placeholders stand for the SHA and the pull request if no commit is known."""

    name: str
    day: date
    sha: str = "SHA"
    pr: int | str = "PR"
    words: str = "memory leak"
    folder: str = "src"


def forms(examples: Examples, language: Language) -> list[tuple[str, str]]:
    """Return (command, description) of each command form, filled with examples."""
    say, blanks = catalogue(language), {**examples._asdict(), "first": examples.day - _WEEK}
    return [(form.format(**blanks), say(gives, **blanks)) for form, gives in _FORMS]


def examples_of(bot: Bot, repositories: Sequence[Repository]) -> Examples:
    """Return examples from the first repository with stored commits: its latest listed day and a recent commit."""
    store, yesterday = bot.reading.services.store, bot.today - timedelta(days=1)
    for repository in repositories:
        commits = [each.commit for each in store.commits(store.latest(repository, _RECENT))]
        if commits:
            day = store.latest_day_before(repository, bot.today, bot.tz.key) or yesterday
            # The latest commit with the most usable fields.
            best = max(commits, key=lambda each: (bool(each.pr), bool(_path(each))))
            return _of_commit(Examples(repository.name, day), best)
    return Examples(repositories[0].name if repositories else "name", yesterday)


def _of_commit(examples: Examples, commit: Commit) -> Examples:
    found, path = examples._replace(sha=commit.short_sha, pr=commit.pr or examples.pr), _path(commit)
    if not path:
        return found
    stem = re.split(r"[/.]", path)[-2]
    return found._replace(folder=path.partition("/")[0], words=stem.replace("_", " ").strip())


def _path(commit: Commit) -> str:
    """Return the first changed path inside a folder that can be typed in a command; empty if there is none."""
    return next((each for each in commit.paths if "/" in each and "." in each and _PLAIN.fullmatch(each)), "")
