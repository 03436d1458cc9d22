"""Which tags of a repository are its releases, in which order, and which of them are candidates.

A repository may tag several packages. The main ones are called by a version alone (`v1.2`, `1.2`), or by the repository's
name and a version; where there are none, it is the prefix that most tags have. Versions are those of PEP 440, as far as they can be read so.
"""

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from analysis.models.releases import ReleaseTag

_VERSION = re.compile(r"(?P<figures>\d+(?:\.\d+)+)\S*$|\d+$")
_SEPARATORS = "-_/.@=+ "
_PLAIN = frozenset({"", "release", "releases", "rel", "version", "ver"})
_FINAL = re.compile(r"[-._]?(?:final|ga|release|lts|stable)$", re.IGNORECASE)


class _Parsed(NamedTuple):
    prefix: str
    family: str
    version: Version
    tag: ReleaseTag


def main_releases(tags: Iterable[ReleaseTag], name: str, prefix: str | None = None) -> tuple[ReleaseTag, ...]:
    """Return the tags of the main releases of the repository called `name`, by version, the oldest first.

    `prefix` is what they begin with, if that is known. Where all tags are of candidates, these are the releases.
    """
    parsed = [found for each in tags if (found := _parse(each))]
    if prefix is not None:
        chosen = [each for each in parsed if each.prefix == prefix]
    else:
        plain = {*_PLAIN, name.lower()}
        families = Counter("" if each.family in plain else each.family for each in parsed)
        main = "" if families[""] else next((family for family, _ in families.most_common(1)), "")
        chosen = [each for each in parsed if each.family == main or (not main and each.family in plain)]
    chosen.sort(key=lambda each: (each.version, each.tag.date))
    if all(each.tag.is_candidate for each in chosen):
        return tuple(each.tag.model_copy(update={"is_candidate": False}) for each in chosen)
    return tuple(each.tag for each in chosen)


def tag_of_version(written: str, names: Iterable[str]) -> str | None:
    """Return the tag that a version means as people write it: by its name, or else by its version; None if none does."""
    known = tuple(names)
    if written in known:
        return written
    version = _version(written)
    return next((each for each in known if version and _version(each) == version), None)


def _version(name: str) -> Version | None:
    match = _VERSION.search(name)
    with suppress(InvalidVersion):
        return Version(_FINAL.sub("", match[0])) if match else None
    return None


def _parse(tag: ReleaseTag) -> _Parsed | None:
    """Return the prefix, family and version of a tag, and the tag with whether it is a candidate; None without a version."""
    match = _VERSION.search(tag.name)
    if not match or "|" in tag.name:  # by which what a digest is of is divided
        return None
    prefix = tag.name[: match.start()]
    family = prefix[:-1] if prefix.endswith(("v", "V")) and not prefix[-2:-1].isalpha() else prefix
    written = _FINAL.sub("", match[0])
    try:
        version = Version(written)
        candidate = version.is_prerelease
    except InvalidVersion:
        version, candidate = Version(match["figures"]), True
    found = tag.model_copy(update={"is_candidate": tag.is_candidate or candidate})
    return _Parsed(prefix, family.strip(_SEPARATORS).lower(), version, found)
