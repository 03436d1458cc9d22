"""Examples of commands, from the repositories that a channel follows: they work when they are copied."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analysis.models import Commit, Language, Repository
from bot.slack.bot import Bot
from bot.slack.messages.words import slack_words

_PLAIN = re.compile(r"[\w-]+(?:[/.][\w-]+)+", re.ASCII)  # a path that may be typed as it is
_WEEK = timedelta(days=6)
_RECENT = 20  # commits among which an example is looked for


class Examples(NamedTuple):
    """What the forms of commands are shown with; where no commit is known, names stand for the SHA and the pull request."""

    name: str
    day: date
    sha: str = "SHA"
    pr: int | str = "PR"
    words: str = "memory leak"
    folder: str = "src"


def forms(examples: Examples, language: Language) -> list[tuple[str, str]]:
    """(what can be typed, what that gives)."""
    blanks = {**examples._asdict(), "first": examples.day - _WEEK}
    return [(form.format(**blanks), gives.format(**blanks)) for form, gives in slack_words(language).forms]


def examples_of(bot: Bot, repositories: Sequence[Repository]) -> Examples:
    """Of the first repository of which the store has commits: its latest day that was listed, and a recent commit."""
    store, yesterday = bot.reading.services.store, bot.today - timedelta(days=1)
    for repository in repositories:
        commits = [each.commit for each in store.commits(store.latest(repository, _RECENT))]
        if commits:
            day = store.latest_day_before(repository, bot.today, bot.tz.key) or yesterday
            # The latest that has an example of most.
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
    """The first file in a folder that the commit changes and that can be named in a command."""
    return next((each for each in commit.paths if "/" in each and "." in each and _PLAIN.fullmatch(each)), "")
