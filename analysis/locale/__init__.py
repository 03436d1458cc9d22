"""The catalogue of sentences: English in the code as the msgid, every other language in one `.po` file (gettext).

    say = catalogue("zh")
    say("View commit")                                             a sentence
    say("Reverts {sha}", sha="a1b2c3d")                            a sentence with placeholders
    say.plural("{count} file", "{count} files", 1204)              a quantity (ngettext)
    say.context("list separator", ", ")                            English that means two things (gettext's msgctxt)
    Phrase("GitHub has no branch {branch}", branch="main")         a sentence whose language is chosen later
    mark("Removes {names}")                                        a sentence in a table, translated later
    mark("Security", "insight")                                    the same in a context

A sentence without a translation stays in English; a test finds it.
"""

from collections.abc import Callable, Mapping
from functools import cache
from gettext import c2py
from typing import Literal, NamedTuple, get_args

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_SOURCE: Language = "en"  # the language of the code


class _Translations(NamedTuple):
    """A `.po` file: (msgctxt, msgid) -> the forms of the translation, and which form a number takes."""

    forms: Mapping[tuple[str, str], tuple[str, ...]]
    form_of: Callable[[int], int]


class Catalogue:
    """The sentences in one language. Placeholders are filled as by `str.format`; phrases among the values are translated."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language

    def __call__(self, message: str, /, **values: object) -> str:
        """Return a sentence."""
        return self._fill_placeholders(self._forms("", message)[0], values)

    def context(self, context: str, message: str, /, **values: object) -> str:
        """Return a sentence whose English means several things; `context` (gettext's msgctxt) tells which."""
        return self._fill_placeholders(self._forms(context, message)[0], values)

    def plural(self, one: str, many: str, number: int, /, **values: object) -> str:
        """Return a quantity; the placeholder {count} is the number: `1 file`, `1,204 files`."""
        translations = self._translations()
        forms = translations.forms.get(("", one), (one, many)) if translations else (one, many)
        form = translations.form_of(number) if translations and forms != (one, many) else int(number != 1)
        return self._fill_placeholders(forms[min(form, len(forms) - 1)], {"count": f"{number:,}", **values})

    def _forms(self, context: str, message: str) -> tuple[str, ...]:
        translations = self._translations()
        return translations.forms.get((context, message), (message,)) if translations else (message,)

    def _translations(self) -> _Translations | None:
        return None if self.language == _SOURCE else _read(self.language)

    def _fill_placeholders(self, message: str, values: Mapping[str, object]) -> str:
        if not values:
            return message
        return message.format(**{name: translated(value, self.language) for name, value in values.items()})


@cache
def catalogue(language: Language) -> Catalogue:
    """Return the catalogue of a language."""
    return Catalogue(language)


class Phrase:
    """A sentence whose language is chosen when it is shown, with the values of its placeholders, phrases among them."""

    def __init__(self, message: str, /, **values: object) -> None:
        self._message = message
        self._values = values

    def translated(self, language: Language) -> str:
        """Return the sentence in a language."""
        return catalogue(language)(self._message, **self._values)

    def __str__(self) -> str:
        return self.translated(_SOURCE)


def translated(what: object, language: Language) -> object:
    """Return a phrase in a language; anything else as it is."""
    return what.translated(language) if isinstance(what, Phrase) else what


def mark(message: str, context: str = "") -> str:  # noqa: ARG001 (the tools that collect the sentences read it)
    """Mark a sentence of a table for translation, with the context it will be looked up in, and return it unchanged."""
    return message


@cache
def _read(language: Language) -> _Translations:
    # Slow to import, and English needs neither.
    from importlib.resources import files

    from babel.messages.pofile import read_po

    with files(__package__).joinpath(f"{language}.po").open("rb") as file:
        catalog = read_po(file, locale=language, abort_invalid=True)
    forms: dict[tuple[str, str], tuple[str, ...]] = {}
    for message in catalog:
        source = message.id if isinstance(message.id, str) else message.id[0]
        strings = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if source and strings and all(strings):
            forms[message.context or "", source] = strings
    return _Translations(forms, c2py(catalog.plural_expr))
