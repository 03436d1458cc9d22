"""Construction of HTML with automatic escaping."""

from unicodedata import bidirectional
from urllib.parse import urlsplit

from markupsafe import Markup

_VOID = frozenset({"br", "hr", "img", "input"})


def tag(name: str, /, *content: object, **attributes: object) -> Markup:
    """Build an element; attributes that are None or False are omitted, `for_` becomes for and `data_ts` data-ts."""
    pairs = [
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), "" if value is True else value)
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    opened = Markup("<{}{}>").format(name, joined(*pairs))
    return opened if name in _VOID else joined(opened, *content, Markup("</{}>").format(name))


def joined(*content: object) -> Markup:
    """Concatenate pieces; those that are not markup are escaped."""
    return Markup("").join(str(piece) if not hasattr(piece, "__html__") else piece for piece in content)


def isolated(text: str) -> Markup:
    """Render a line with right-to-left text isolated, so that it does not reorder the parts separated by " · "."""
    if not any(bidirectional(each) in {"R", "AL"} for each in text):
        return joined(text)
    return Markup(" · ").join(tag("bdi", each) if each else "" for each in text.split(" · "))


def link(url: str, label: object) -> Markup:
    """Build a link that opens in a new window; only the label if the URL is not http(s)."""
    if not is_web(url):
        return tag("span", label)
    return tag("a", label, href=url, target="_blank", rel="noreferrer noopener")


def is_web(url: str) -> bool:
    """Return whether a URL is http(s) with a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable()
