"""Conditional defaults: fields of a configuration that the program sets itself in some configurations."""

import re
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change, is_product
from analysis.models import Fact, FactKind, FileChange

# Where a program decides its settings; a model's own code adapts the configuration of its checkpoint.
_DECIDES = re.compile(r"(?:^|/)(?:\w+_)?(?:config|configs|platforms?|settings|arg_utils)(?:/|\.py$)")
_FIELD = r"(?:\w+\.)*?(?P<owner>[a-z]\w*_config)\.(?P<field>[a-z]\w*)"
_ASSIGNS = re.compile(
    rf"\s+{_FIELD}\s*=\s*(?P<value>True|False|None|-?\d[\d.]*|([\"'])[^\"']*\4|[A-Z]\w*\.[A-Z]\w*)\s*(?:#.*)?"
)
_OF_CHECKPOINTS = re.compile(r"hf_|text_|vision_|audio_")


def conditional_defaults(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each field of a configuration that a commit newly sets to a constant; not one whose assignment only moves."""
    if not file.path.endswith(".py") or not is_product(file) or not _DECIDES.search(file.path):
        return
    for line in changed_lines(file, "+"):
        found = _ASSIGNS.fullmatch(line.text)
        if found and not _OF_CHECKPOINTS.match(found["owner"]) and not _was_set(change, found["owner"], found["field"]):
            owner = "".join(part.capitalize() for part in found["owner"].split("_"))
            name, kind = f"{owner}.{found['field']}", FactKind.CONDITIONAL_DEFAULT
            yield Fact(kind=kind, name=name, path=file.path, line=line.new, new=found["value"])


def _was_set(change: Change, owner: str, field: str) -> bool:
    """Return whether a removed line gave the field a value, which then only changes or moves."""
    return re.search(rf"\b{owner}\.{field}\s*=[^=]", change.removed_lines) is not None
