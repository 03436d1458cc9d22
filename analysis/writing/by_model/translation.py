"""Translation of checked texts by a model, so that both languages say the same; names in backticks and figures must stay."""

import re
from collections.abc import Sequence

from analysis.diff import tokens
from analysis.errors import ModelFailure
from analysis.grounding.check import is_empty, rewritten, tidied
from analysis.grounding.corpus import SPAN
from analysis.grounding.language import is_in_language
from analysis.locale import Phrase
from analysis.models import Analysis, Language
from analysis.writing.by_model.asking import Asker, Form

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST, _LONGEST = 300, 8_000  # tokens of the reply


class _Translation(Form):
    texts: list[str]


def translate(analyses: Sequence[Analysis], language: Language, asker: Asker) -> list[Analysis | ModelFailure]:
    """Return each analysis in another language, or why it could not be translated, in one call.

    What does not keep the names and the figures is left out. Raises `ModelFailure` if there is no reply.
    """
    said = list(dict.fromkeys(text for each in analyses for text in (each.headline, *each.texts)))
    texts = [text for text in said if not is_empty(SPAN.sub("", text))]
    messages = asker.prompt("translation_system.j2", "translation.j2", language, texts=texts)
    most = min(_LONGEST, _LEAST + 2 * sum(map(tokens, texts)))
    found = asker.ask(messages, _Translation, most).texts
    if len(found) != len(texts):
        raise ModelFailure(Phrase("the reply did not translate every sentence"))
    told = {old: tidied(new) for old, new in zip(texts, found, strict=True) if _says_the_same(old, new, language)}
    names = {text: text for text in said if text not in texts}
    return [_translated(each, told | names) for each in analyses]


def _translated(analysis: Analysis, texts: dict[str, str]) -> Analysis | ModelFailure:
    told = rewritten(analysis, lambda text, _: texts.get(text, ""), lambda text, _: texts.get(text, ""))
    if is_empty(told.summary):
        return ModelFailure(Phrase("the reply did not translate every sentence"))
    return told


def _says_the_same(old: str, new: str, language: Language) -> bool:
    """Return whether a translation has the language, the names and the figures of a text, and no links."""
    marks = [(set(SPAN.findall(text)), set(_FIGURE.findall(SPAN.sub("", text)))) for text in (old, tidied(new))]
    return marks[0] == marks[1] and is_in_language(new, language) and "://" not in new
