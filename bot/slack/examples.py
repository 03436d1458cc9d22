"""What people can type, with examples of what a channel follows: they work when they are copied."""

import re
from datetime import date, timedelta
from typing import NamedTuple

from analysis.models import Commit, Language, Repository
from bot.slack.bot import Bot
from bot.slack.words import slack_words

_PLAIN = re.compile(r"[\w-]+(?:[/.][\w-]+)+", re.ASCII)  # a path that may be typed as it is
_WEEK = timedelta(days=6)


class Examples(NamedTuple):
    """What the forms of commands are shown with; the usual ones are of nobody's repository."""

    name: str
    day: date
    sha: str = "1a2b3c4"
    pr: int = 123
    words: str = "memory leak"
    folder: str = "src"


def forms(examples: Examples, language: Language) -> list[tuple[str, str]]:
    """(what can be typed, what that gives)."""
    blanks = {**examples._asdict(), "first": examples.day - _WEEK}
    return [(form.format(**blanks), gives.format(**blanks)) for form, gives in slack_words(language).forms]


def examples_of(bot: Bot, repository: Repository | None) -> Examples:
    """Of the latest day of a repository that was listed, as far as there is one."""
    usual = Examples(repository.name if repository else "name", bot.today - timedelta(days=1))
    store, tz = bot.reading.desk.store, bot.tz.key
    day = store.latest_day_before(repository, bot.today, tz) if repository else None
    listed = store.day(repository, day, tz) if repository and day else None
    if day is None or listed is None:
        return usual
    commits = [each.commit for each in store.commits(listed.commit_ids)]
    # The one that has an example of most.
    best = max(commits, key=lambda each: (bool(each.pr), bool(_path(each))), default=None)
    return _of_commit(usual._replace(day=day), best) if best else usual._replace(day=day)


def _of_commit(examples: Examples, commit: Commit) -> Examples:
    found, path = examples._replace(sha=commit.short_sha, pr=commit.pr or examples.pr), _path(commit)
    if not path:
        return found
    stem = re.split(r"[/.]", path)[-2]
    return found._replace(folder=path.partition("/")[0], words=stem.replace("_", " ").strip())


def _path(commit: Commit) -> str:
    """The first file in a folder that the commit changes and that can be named in a command."""
    return next((each for each in commit.paths if "/" in each and "." in each and _PLAIN.fullmatch(each)), "")
