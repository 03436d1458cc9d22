"""Headlines that several commits have nearly in common, as one sentence: new models, and titles that begin alike."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.consequences.names import LENGTH
from analysis.locale import Catalogue
from analysis.locale.punctuation import join_items

_ALIKE = 4  # words at the beginning of titles that are about the same
_LENGTH = LENGTH * 4 // 3  # characters; one sentence stands for several


class Joined(NamedTuple):
    """A sentence, and the places of the headlines that it tells."""

    text: str
    places: tuple[int, ...]


def joined(headlines: Sequence[str], models: Sequence[str], say: Catalogue) -> Iterator[Joined]:
    """Yield sentences that tell all headlines, in the order of the first of each; `models` names the model that one adds, or is ""."""
    told: set[int] = set()
    for first, headline in enumerate(headlines):
        if first in told:
            continue
        found = Joined(headline, (first,))
        for other in range(first + 1, len(headlines)):
            places = (*found.places, other)
            texts, names = ([each[place] for place in places] for each in (headlines, models))
            text = say("New models: {names}", names=join_items(names, say)) if all(names) else _alike(texts, say)
            if other not in told and text and len(text) <= _LENGTH:
                found = Joined(text, places)
        told.update(found.places)
        yield found


def _alike(texts: Sequence[str], say: Catalogue) -> str:
    """Return the words that all begin with and behind them what each has of its own; "" if they do not begin alike."""
    columns = zip(*(each.split() for each in texts), strict=False)
    count = next((place for place, words in enumerate(columns) if len(set(words)) > 1), 0)
    rests = [" ".join(each.split()[count:]) for each in texts]
    rests = [each for each in rests if not any(each != rest and each in rest for rest in rests)]
    beginning = " ".join(texts[0].split()[:count])
    return f"{beginning} {join_items(rests, say)}" if count >= _ALIKE else ""
