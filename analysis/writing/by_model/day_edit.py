"""The edit of a day by a model: the order of its commits, and one sentence about the day."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from analysis.grounding.check import check, is_empty, tidied
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import Section
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.models import Commit, Edit, Fact, Importance, Language
from analysis.writing.by_model.asking import Asker, Form
from analysis.writing.second_reading import confirmed

_MAX_REPLY = 900  # tokens
_ASKED, _MOST = 18, 24  # words of the sentence, and those that it may have
_CHARACTERS = 60  # of the sentence in Chinese
_MOST_NAMED = 4  # commits of the sentence


class EditedLine(NamedTuple):
    """A commit that may have a line in the head of a day: its group and tier, the headline that everybody reads, and what else it means."""

    commit: Commit
    facts: Sequence[Fact]
    group: str
    importance: Importance
    headline: str
    further: Sequence[str]


class _Edit(Form):
    order: list[int]
    about: list[int]
    lead: str = Field(description=f"one sentence, at most {_ASKED} words")


def edit(lines: Sequence[EditedLine], shown: int, language: Language, repository: str, asker: Asker) -> Edit:
    """Let the model order the lines of a day, of which at most so many are `shown`, and write one sentence about some; the sentence is "" unless the commits bear it out.

    Raises `ModelFailure` if there is no reply.
    """
    most = f"{_ASKED} words" if language == "en" else f"{_CHARACTERS} characters"
    values = {"repository": repository, "lines": lines, "shown": shown, "most": most}
    messages = asker.prompt("edit_system.j2", "edit.j2", language, **values)
    reply = asker.ask(messages, _Edit, _MAX_REPLY)
    order = [lines[number - 1] for number in dict.fromkeys(reply.order) if 0 < number <= len(lines)]
    about = [lines[number - 1] for number in dict.fromkeys(reply.about) if 0 < number <= len(lines)][:_MOST_NAMED]
    lead = _lead(reply.lead, about, language)
    if lead and not all(confirmed([lead], messages, asker.ask)):
        lead = ""
    return Edit(
        commits=tuple(each.commit.sha for each in lines),
        order=tuple(each.commit.sha for each in order),
        lead=lead,
        headlines={each.commit.sha: each.headline for each in about} if lead else {},
    )


def _lead(written: str, about: Sequence[EditedLine], language: Language) -> str:
    """Return the sentence about the day, if it is in the language and borne out by the commits that it is about."""
    lead = _shortened(tidied(written), language)
    if not about or is_empty(lead) or not is_in_language(lead, language):
        return ""
    facts = [fact for each in about for fact in each.facts]
    corpus = Corpus([each.commit for each in about], facts=facts, texts=[each.headline for each in about])
    return "" if check(written, corpus, Section.CHANGE).removed else lead


def _shortened(text: str, language: Language) -> str:
    """Return the first sentences of a text that are short enough together: the lines below need the room."""
    kept = ""
    for each in sentences(text):
        longer = kept + each
        if len(longer) > _CHARACTERS if language == "zh" else len(longer.split()) > _MOST:
            break
        kept = longer
    return kept.strip()
