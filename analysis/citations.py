"""Citations: links to a commit, to one of its files, or to a line of its diff, as GitHub addresses them."""

from hashlib import sha256
from urllib.parse import quote

from analysis.diff import DiffLine, hunks
from analysis.models import Citation, Commit, Fact, FactKind, FileChange
from analysis.models.impacts import Impact


def to_commit(commit: Commit) -> Citation:
    return Citation(label=commit.short_sha, url=commit.url)


def sibling_url(commit: Commit, path: str) -> str:
    """Return the URL of another page of the commit's repository; "" if the commit's URL is not GitHub's."""
    root, found, _ = commit.url.rpartition("/commit/")
    return root + path if found else ""


def to_upstream_place(commit: Commit, impact: Impact) -> Citation:
    """Cite the upstream line of an impact, as of the commit's parent if the commit removed it."""
    place = impact.upstream
    sha = commit.parents[0] if impact.in_parent and commit.parents else commit.sha
    line = f"#L{place.line}" if place.line else ""
    url = sibling_url(commit, f"/blob/{sha}/{quote(place.path, errors='replace')}{line}") if place.path else ""
    return Citation(label=f"{place.path}:{place.line}" if place.line else place.path, url=url or commit.url)


def to_repository_line(commit: Commit, path: str, line: int) -> Citation:
    """Cite a line of a file as of the commit, whether it changed the file or not."""
    url = sibling_url(commit, f"/blob/{commit.sha}/{quote(path, errors='replace')}#L{line}")
    return Citation(label=f"{path}:{line}", url=url or commit.url)


def to_file(commit: Commit, file: FileChange) -> Citation:
    return Citation(label=file.path, url=f"{commit.url}#diff-{_anchor(file)}")


def to_line(commit: Commit, file: FileChange, line: DiffLine) -> Citation:
    """Cite a line by its number on the left side if it was removed, else on the right, as GitHub does."""
    side = "L" if line.sign == "-" else "R"
    return Citation(label=f"{file.path}:{line.number}", url=f"{commit.url}#diff-{_anchor(file)}{side}{line.number}")


def to_fact(commit: Commit, fact: Fact) -> Citation:
    """Cite the place of a fact; the commit itself if its message proves the fact or the patch is missing."""
    file = next((each for each in commit.files if fact.path in (each.path, each.previous_path)), None)
    if file is None:
        return to_commit(commit)
    lines = [line for hunk in hunks(file.patch) for line in hunk if line.number == fact.line and line.sign != " "]
    named = [line for line in lines if fact.name.strip("-") in line.text]
    if lines:
        return to_line(commit, file, (named or lines)[0])
    if not fact.line:
        return to_file(commit, file)
    sign = "-" if fact.removes else "+" if fact.breaking else ""
    place = to_line(commit, file, DiffLine(sign, "", fact.line, fact.line)) if sign else to_file(commit, file)
    return place.model_copy(update={"label": fact.place})


def new_place(commit: Commit, fact: Fact) -> Citation | None:
    """Cite the new place of a moved name; None if the fact is no such move."""
    if fact.kind is not FactKind.MOVED_NAME or not fact.new:
        return None
    path, _, line = fact.new.rpartition(":")
    file = next((each for each in commit.files if each.path == path), None)
    return to_line(commit, file, DiffLine("+", "", None, int(line))) if file else None


def _anchor(file: FileChange) -> str:
    return sha256(file.path.encode("utf-8", "replace")).hexdigest()
