"""A folder on disk, read as source files: what is nobody's source is left out, and nothing outside it is reached."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from analysis.errors import Misuse
from analysis.sources.source_folder import SourceFolder


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_made_hidden_and_ignored_files_are_left_out(tmp_path: Path) -> None:
    """Environments, caches, what was built, hidden folders and what a .gitignore names are not read, at any depth."""
    kept = {
        "a.py": "a",
        "pkg/b.py": "b",
        "pkg/build/c.py": "kept: only the top folder's is an output",
        "pkg/d.log": "d",
    }
    left_out = {
        ".git/x.py": "",
        ".venv/x.py": "",
        "build/x.py": "",
        "made/pyvenv.cfg": "",
        "pkg/__pycache__/x.py": "",
        "plug.egg-info/x.py": "",
        "pkg/out/x.py": "",
        "x.log": "",
    }
    rules = {".gitignore": "[z-a]\n*.log\n", "pkg/.gitignore": "/out/\n!d.log\n"}
    write(tmp_path, {**kept, **left_out, **rules})
    source = SourceFolder(tmp_path)
    assert source.list_files().files == tuple(sorted(kept))
    assert dict(source.read(["a.py"])) == {"a.py": "a"}


def test_other_repositories_inside_are_named(tmp_path: Path) -> None:
    """A clone or submodule inside is not read, and is named."""
    write(tmp_path, {"a.py": "", "engine/.git": "gitdir: ../.git/modules/engine", "engine/x.py": ""})
    assert SourceFolder(tmp_path).list_files() == (("a.py",), ("engine",))


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    """Links to files and folders, loops and pipes are passed over."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    write(outside, {"secret.py": "x"})
    write(folder, {"a.py": "a"})
    (folder / "link.py").symlink_to(outside / "secret.py")
    (folder / "linked").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.py")
    source = SourceFolder(folder)
    assert source.list_files().files == ("a.py",)
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to(outside / "secret.py")  # after it was listed
    assert dict(source.read(["a.py"])) == {"a.py": None}


def test_files_that_are_no_text_have_none(tmp_path: Path) -> None:
    """A binary file and one of more than 2 MB have no text; one that is not UTF-8 has."""
    (tmp_path / "a.py").write_bytes(b"\0")
    (tmp_path / "b.py").write_bytes(b"#" * 2_000_001)
    (tmp_path / "c.py").write_bytes(b"# \xe4")
    source = SourceFolder(tmp_path)
    assert dict(source.read(source.list_files().files)) == {"a.py": None, "b.py": None, "c.py": "# \ufffd"}


@pytest.mark.parametrize(("name", "words"), [("none", "does not exist"), ("empty", "has no files")])
def test_a_folder_without_files_is_an_error(name: str, words: str, tmp_path: Path) -> None:
    """A folder that does not exist or has nothing to read is named."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(Misuse, match=words):
        SourceFolder(tmp_path / name).list_files()
