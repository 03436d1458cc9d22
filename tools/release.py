"""Release of a version, as `make release VERSION=0.2.0`.

It dates the changelog's section, sets the version, commits and tags, and prints what to push. Nothing leaves the machine.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_UNRELEASED = re.compile(r"^## .+ \(not released yet\)\n(?P<section>(?:(?!## ).*\n?)*)", re.MULTILINE)
_CHECK = ("make", "check")


class ReleaseRefused(Exception):
    """Why nothing was released."""


def release(root: Path, version: str, today: date, check: Sequence[str] = _CHECK) -> str:
    """Commit and tag a version in a clone, and return the command that pushes them.

    `check` is the command that must succeed before. Raise `ReleaseRefused`, before any file is changed, for a version that is
    not newer than those tagged, a changelog without entries, a clone that is dirty or not on main, or a check that fails.
    """
    project, changelog = root / "pyproject.toml", root / "CHANGELOG.md"
    _refuse_other_states(root)
    _refuse_older(root, project, version)
    dated = _dated(changelog.read_text("utf-8"), version, today)
    if subprocess.run(check, cwd=root, check=False).returncode:
        raise ReleaseRefused(f"`{' '.join(check)}` failed")
    changelog.write_text(dated, "utf-8")
    project.write_text(_numbered(project.read_text("utf-8"), version), "utf-8")
    _git(root, "commit", "--quiet", "--message", f"Release {version}", "--", changelog.name, project.name)
    _git(root, "tag", "--annotate", "--message", f"vllm-digest {version}", f"v{version}")
    return f"git push --atomic origin main v{version}"


def _refuse_other_states(root: Path) -> None:
    branch = _git(root, "branch", "--show-current")
    if branch != "main":
        raise ReleaseRefused(f"releases are made on main, and this is {branch or 'no branch'}")
    if changed := _git(root, "status", "--porcelain"):
        raise ReleaseRefused(f"there are changes that are not committed:\n{changed}")


def _refuse_older(root: Path, project: Path, version: str) -> None:
    """Refuse a version that is not newer than the tagged ones, or is older than the one in pyproject.toml, which may be the next."""
    number = _number(version)
    if number is None:
        raise ReleaseRefused(f"{version!r} is not a version; use one such as 0.2.0")
    released = [found for tag in _git(root, "tag", "--list", "v*").split() if (found := _number(tag.removeprefix("v")))]
    current = tomllib.loads(project.read_text("utf-8"))["project"]["version"]
    if released and number <= max(released):
        raise ReleaseRefused(f"{version} is not newer than {'.'.join(map(str, max(released)))}, which is released")
    if number < (_number(current) or ()):
        raise ReleaseRefused(f"{version} is older than {current}, the version in {project.name}")


def _number(version: str) -> tuple[int, ...] | None:
    match = _VERSION.fullmatch(version)
    return tuple(map(int, match.groups())) if match else None


def _dated(changelog: str, version: str, today: date) -> str:
    """Return the changelog with the section of what is not released yet under the version and the date."""
    match = _UNRELEASED.search(changelog)
    if not match or not re.search(r"^- ", match["section"], re.MULTILINE):
        raise ReleaseRefused("CHANGELOG.md has no entry under a heading with (not released yet)")
    return f"{changelog[: match.start()]}## {version} ({today})\n{match['section']}{changelog[match.end() :]}"


def _numbered(project: str, version: str) -> str:
    return re.sub(r'^version = ".*"$', f'version = "{version}"', project, count=1, flags=re.MULTILINE)


def _git(root: Path, *arguments: str) -> str:
    ran = subprocess.run(("git", *arguments), cwd=root, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise ReleaseRefused(f"git {arguments[0]} failed: {ran.stderr.strip()}")
    return ran.stdout.strip()


def main() -> None:
    """Release the version of the command line from the current folder, as of today in UTC."""
    parser = argparse.ArgumentParser(
        prog="make release", description="Date the changelog, set the version, commit and tag."
    )
    parser.add_argument("version", nargs="?", default="", metavar="VERSION=0.2.0")
    try:
        push = release(Path.cwd(), parser.parse_args().version, datetime.now(UTC).date())
    except ReleaseRefused as exc:
        sys.exit(f"not released: {exc}")
    print(f"committed and tagged; to publish it:\n    {push}")


if __name__ == "__main__":
    main()
