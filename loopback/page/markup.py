"""HTML that is escaped by construction."""

from unicodedata import bidirectional
from urllib.parse import urlsplit

from markupsafe import Markup

_VOID = frozenset({"br", "hr", "img", "input"})


def tag(name: str, /, *content: object, **attributes: object) -> Markup:
    """An element; an attribute that is None or False is left out, `for_` is called for and `data_ts` data-ts."""
    pairs = [
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), "" if value is True else value)
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    opened = Markup("<{}{}>").format(name, joined(*pairs))
    return opened if name in _VOID else joined(opened, *content, Markup("</{}>").format(name))


def joined(*content: object) -> Markup:
    """Pieces one after the other; what is no markup is escaped."""
    return Markup("").join(str(piece) if not hasattr(piece, "__html__") else piece for piece in content)


def isolated(text: str) -> Markup:
    """Text of a line: what is written from right to left there does not move what " · " sets apart from it."""
    if not any(bidirectional(each) in {"R", "AL"} for each in text):
        return joined(text)
    return Markup(" · ").join(tag("bdi", each) if each else "" for each in text.split(" · "))


def link(url: str, label: object) -> Markup:
    """A link in a window of its own; only the label where that is no web address."""
    if not is_web(url):
        return tag("span", label)
    return tag("a", label, href=url, target="_blank", rel="noreferrer noopener")


def is_web(url: str) -> bool:
    """Whether an address begins with http(s) and names a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable()
