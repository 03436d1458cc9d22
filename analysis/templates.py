"""Jinja templates: of plain text (the prompts, and the reports in Markdown), and of HTML."""

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def text_environment(package: str, folder: str = ".") -> "Environment":
    """Return an environment for the templates in a folder of a package; a value that is missing is an error.

    Nothing is escaped: a template passes what comes from outside through the filters of its format.
    """
    return _environment(package, folder, autoescape=False)


def html_environment(package: str, folder: str) -> "Environment":
    """Return an environment for HTML templates: whatever they show is escaped."""
    return _environment(package, folder, autoescape=True)


def _environment(package: str, folder: str, *, autoescape: bool) -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return files(package).joinpath(folder, name).read_text("utf-8")

    return Environment(
        autoescape=autoescape,  # noqa: S701 (plain text is no page)
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
