"""Questions about the commits of some days, or about all that are stored, and what is said of the commits that do not answer them."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_items, join_sentences
from analysis.models import Entry, Language, Repository, Statement
from analysis.questions.matches import PeriodMatches
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.terms import QuestionTerm
from analysis.writing.by_rules import code
from bot.models.downstream import DownstreamCheck

_MAX_NAMED = 4  # terms that a denial names


class PeriodQuestion(NamedTuple):
    """A question about the days of a repository, oldest first, in a time zone.

    Without days it is about all that is stored, as it becomes where the days are only the last ones (`lately`) and without
    commits. With a `check` it asks what of downstream code the commits break. The answer says which days if it is `told` them.
    """

    asked: ParsedQuestion
    repository: Repository
    days: Sequence[date]
    tz: ZoneInfo
    language: Language
    check: Callable[[Sequence[Entry]], DownstreamCheck] | None = None
    lately: bool = False
    told: bool = False

    def about(self, entries: Sequence[Entry], further: Sequence[Entry] | None = None) -> Question:
        """Return the question about some commits, and the `further` ones that match."""
        return Question(self.asked, self.repository, tuple(entries), further if further is None else tuple(further))


def scope_statement(question: PeriodQuestion) -> Statement:
    """Say which commits a question is answered from."""
    say, name = catalogue(question.language), code(str(question.repository))
    if not question.days:
        return Statement(text=say("In the history of {repository}:", repository=name))
    first, last = question.days[0], question.days[-1]
    if first == last:
        return Statement(text=say("In the commits of {repository} on {day}:", repository=name, day=first))
    return Statement(
        text=say("In the commits of {repository} from {first} to {last}:", repository=name, first=first, last=last)
    )


def unproven(matches: PeriodMatches, question: PeriodQuestion) -> str:
    """Say that no commit is proven to do what is asked, and what could not be searched."""
    say = catalogue(question.language)
    told = say.plural(
        "{count} commit was looked at; it is not proven to do this.",
        "None of the {count} commits is proven to do this.",
        matches.searched,
    )
    return join_sentences([told, *unsearched(matches, say)], say)


def not_found(matches: PeriodMatches, question: PeriodQuestion) -> str:
    """Say which names of a question the commits that answer the rest of it do not have."""
    names = _names(matches.absent, question)
    return catalogue(question.language)(
        "Not found: {names}. These commits match the rest of the question.", names=names
    )


def none_of(matches: PeriodMatches, question: PeriodQuestion) -> Statement:
    """Say that none of the commits searched matches, by which names that is proven, and what could not be searched."""
    say, count = catalogue(question.language), matches.searched
    names = _names(matches.absent, question)
    left_out = list(unsearched(matches, say))
    if matches.unproven and count:
        return Statement(text=unproven(matches, question))
    if not matches.asked:
        text = say(
            "Ask what these commits do, for example: which change a default? what removed --flag? what was reverted?"
        )
    elif not (count or matches.unread):
        name = code(str(question.repository))
        text = say("No commits of {repository} are stored yet. Ask about a day, and they are read.", repository=name)
    elif not names or left_out:
        none = (
            say("The commit does not match.")
            if count == 1
            else say("None of the {count} commits matches.", count=count)
        )
        text = join_sentences([none, *left_out], say)
    elif count == 1:
        text = say("The commit does not mention {names}.", names=names)
    elif question.days:
        text = say("None of the {count} commits mentions {names}.", count=count, names=names)
    else:
        text = say("None of the {count} stored commits mentions {names}.", count=count, names=names)
    return Statement(text=text)


def _names(terms: Sequence[QuestionTerm], question: PeriodQuestion) -> str:
    written = dict.fromkeys(_as_written(term, question.asked.text) for term in terms)
    return join_items([f"`{name}`" for name in list(written)[:_MAX_NAMED]], catalogue(question.language))


def _as_written(term: QuestionTerm, question: str) -> str:
    """Return the word of a question that a term is, or is a part of, as it was written there."""
    match = re.search(rf"(?<![\w-])[\w-]*?(?<!\w){re.escape(term.text)}(?!\w)[\w-]*", question, re.IGNORECASE)
    return match[0].rstrip("-") if match else term.text


def unsearched(matches: PeriodMatches, say: Catalogue) -> Iterator[str]:
    if matches.unread:
        yield say.plural("{count} commit could not be read.", "{count} commits could not be read.", matches.unread)
    if matches.unsearched:
        yield say.plural(
            "{count} commit was searched in part only.",
            "{count} commits were searched in part only.",
            matches.unsearched,
        )
