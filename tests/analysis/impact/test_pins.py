"""The version of upstream that a tree pins, and which one is taken where several disagree."""

import pytest

from analysis.impact.pins import (
    by_strength,
    files_of_other_branches,
    find_pins,
    may_pin,
    submodule_paths,
    tag_names,
)
from analysis.models import Repository
from analysis.models.upgrades import Pin, PinKind

UPSTREAM = Repository.parse("acme/fast-lib")
SHA = "4d9513537f0a1b2c3d4e5f60718293a4b5c6d7e8"


def found(path: str, text: str) -> list[tuple[str, int | None, bool]]:
    return [(pin.ref, pin.line, pin.exact) for pin in find_pins([(path, text)], UPSTREAM)]


@pytest.mark.parametrize(
    ("path", "text", "ref"),
    [
        ("requirements.txt", "fast-lib==1.2.0", "1.2.0"),
        ("requirements/test.txt", "fast_lib[gpu] ~= 1.2.0rc1  # why", "1.2.0rc1"),
        ("pyproject.toml", 'dependencies = ["numpy>=1", "Fast-Lib==1.2.0+cpu"]', "1.2.0+cpu"),
        ("setup.py", f"install_requires=['fast-lib @ git+https://github.com/acme/fast-lib.git@{SHA}']", SHA),
        ("Dockerfile", "RUN pip install fast-lib==1.2.0", "1.2.0"),
        ("docker/Dockerfile.gpu", "ARG FAST_LIB_TAG=v1.2.0", "v1.2.0"),
        ("Dockerfile", "ENV FAST_LIB_VERSION 1.2.0", "1.2.0"),
        ("build.sh", f'FAST_LIB_COMMIT="${{FAST_LIB_COMMIT:-{SHA[:9]}}}"', SHA[:9]),
        ("Dockerfile", "RUN git clone -b v1.2.0 https://github.com/acme/fast-lib.git", "v1.2.0"),
        ("Makefile", f"\tgit clone https://github.com/acme/fast-lib\n\tcd fast-lib && git checkout {SHA}", SHA),
        (".github/workflows/ci.yml", "  repository: acme/fast-lib\n  ref: v1.2.0", "v1.2.0"),
        (".github/workflows/ci.yml", "  fast_lib_version: [v1.2.0]", "v1.2.0"),
        ("FAST_LIB_STABLE_COMMIT", f"# tested\n{SHA}\n", SHA),
        ("ci/fast-lib.version", "v1.2.0", "v1.2.0"),
        ("uv.lock", '[[package]]\nname = "fast-lib"\nversion = "1.2.0"', "1.2.0"),
    ],
)
def test_a_pin_is_found_with_its_place(path: str, text: str, ref: str) -> None:
    """A requirement, an image, a script, a workflow, a lock file or a version file gives the version and its line."""
    assert may_pin(path, UPSTREAM)
    assert found(path, text) == [(ref, 1 + text[: text.index(ref)].count("\n"), True)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", "fast-lib-extras==1.2.0\nmy-fast-lib==1.2.0\nfast-lib\n# fast-lib==1.0.0"),
        ("Dockerfile", "ARG FAST_LIB_PLUGIN_TAG=v1.2.0\nARG FAST_LIB_TAG=main\nARG OTHER_TAG=v1.2.0"),
        ("Makefile", "\tgit clone https://github.com/acme/other\n\tgit checkout v1.2.0"),
        ("Makefile", f"\tgit clone https://github.com/acme/fast-lib-plugin\n\tgit checkout {SHA}"),
        (".github/workflows/ci.yml", f"  - uses: actions/checkout@{SHA} # v4.2.2"),
        ("FAST_LIB_COMMIT", f"{SHA}\n{SHA}"),
        ("README.md", "fast-lib==1.2.0"),
        ("src/module.py", "FAST_LIB_VERSION = '1.2.0'"),
    ],
)
def test_what_pins_something_else_is_none(path: str, text: str) -> None:
    """Other packages, other repositories, comments, branches and prose pin nothing of upstream."""
    assert found(path, text) == []


def test_several_versions_in_a_list_are_all_found() -> None:
    """A matrix of a workflow pins each of its versions."""
    assert found(".github/workflows/ci.yml", f"fast_lib_version: [{SHA}, v1.2.0]") == [
        (SHA, 1, True),
        ("v1.2.0", 1, True),
    ]


def test_the_pin_that_binds_most_is_first() -> None:
    """What is installed comes before images, these before workflows, an exact version before a minimum; then the most places."""
    workflow = ("2.0.0", PinKind.WORKFLOW, True)
    image, other, minimum = (
        ("v1.2.0", PinKind.IMAGE, True),
        ("1.3.0", PinKind.IMAGE, True),
        ("1.0", PinKind.REQUIREMENT, False),
    )
    pins = [
        Pin(ref=ref, kind=kind, path=f"{number}", exact=exact)
        for number, (ref, kind, exact) in enumerate([minimum, workflow, other, image, image])
    ]
    assert [[each.path for each in group] for group in by_strength(pins)] == [["3", "4"], ["2"], ["1"], ["0"]]


def test_a_version_has_the_names_that_tags_usually_have() -> None:
    """A version is looked for with and without a v, a build of it as the version, and a SHA as it is."""
    assert tag_names("1.2.0+cpu", UPSTREAM)[:2] == ["1.2.0", "v1.2.0"]
    assert tag_names("v1.2.0", UPSTREAM)[:2] == ["v1.2.0", "1.2.0"]
    assert tag_names(SHA, UPSTREAM) == [SHA]


def test_submodules_and_files_of_other_branches_are_named() -> None:
    """A `.gitmodules` gives the path of upstream's submodule; `git show` in a script the branch and the file."""
    modules = '[submodule "a"]\n\tpath = deps/a\n\turl = https://github.com/x/a\n[submodule "b"]\n\tpath = deps/b\n'
    modules += "\turl = https://github.com/acme/fast-lib.git\n"
    assert list(submodule_paths(modules, UPSTREAM)) == ["deps/b"]
    script = 'git show "origin/ci/good:FAST_LIB_COMMIT" && git show origin/main:README.md'
    assert list(files_of_other_branches(script, UPSTREAM)) == [("ci/good", "FAST_LIB_COMMIT")]
