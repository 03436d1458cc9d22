"""The elements and attributes of our own pages."""

ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "h2",
        "h3",
        "h4",
        "time",
        "p",
        "main",
        "section",
        "ul",
        "li",
        "a",
        "code",
        "span",
        "details",
        "summary",
        "strong",
        "footer",
    ]
)
ATTRIBUTES = frozenset(["lang", "charset", "name", "content", "http-equiv", "class", "datetime", "href", "id", "open"])
