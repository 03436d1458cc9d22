"""What is no longer taken, and least versions that rise."""

from collections.abc import Sequence

import pytest

from analysis.models import FactKind
from tests.analysis.facts.told import breaking, changed, names, told
from tests.factories import file


@pytest.mark.parametrize(
    ("path", "under", "lines", "name"),
    [
        ("engine/quant/__init__.py", "", [" METHODS = [", '-    "hqx",', " ]"], "hqx"),
        ("engine/registry.py", "_TEXT_MODELS = {", ['-    "OwlForCausalLM": ("owl", "Owl"),'], "OwlForCausalLM"),
        ("engine/video.py", "", ['-@LOADERS.register("plain")', "-class _Plain:"], "plain"),
        ("CMakeLists.txt", "", ['-  set(CUDA_SUPPORTED_ARCHS "7.0;8.0")', '+  set(CUDA_SUPPORTED_ARCHS "8.0")'], "CUDA_SUPPORTED_ARCHS 7.0"),
        ("docker/Dockerfile", "", ["-ARG cuda_arch_list='7.0 8.0'", "+ARG cuda_arch_list='8.0'"], "cuda_arch_list 7.0"),
    ],
)  # fmt: skip
def test_what_a_list_of_the_taken_loses_is_dropped(path: str, under: str, lines: Sequence[str], name: str) -> None:
    """Methods, models, registrations, architectures and versions that were listed and are no more."""
    assert names(FactKind.SUPPORT_DROPPED, changed(path, *lines, under=under)) == [name]


@pytest.mark.parametrize(
    ("path", "under", "lines"),
    [
        ("engine/quant.py", "DEPRECATED_METHODS = [", ['-    "hqx",']),
        ("engine/quant.py", "_UNSUPPORTED_MODELS = {", ['-    "Owl": 1,']),
        ("engine/quant.py", "WORDS = [", ['-    "hqx",']),
        ("engine/quant.py", "QuantizationMethods = Literal[", ['-    "hqx",']),  # values of a setting
        ("engine/quant.py", "METHODS = [", ['-    "hqx",', '+    "hqx",  # still']),
        ("engine/quant.py", "def pick():", ['-    methods = ["hqx"]']),
        ("engine/quant.py", "METHODS = [", ['-        "part of an item",']),
        ("engine/layer.py", "class Layer:", ['-        layer.register_parameter("weight", x)']),
        ("engine/old.py", "", ["-METHODS = [", '-    "hqx",', "-]"]),  # the list itself goes: a name
        ("tests/quant.py", "METHODS = [", ['-    "hqx",']),
        ("engine/video.py", "", ['-@LOADERS.register("plain")', " class Plain:"]),
    ],
)
def test_what_was_not_taken_is_not_dropped(path: str, under: str, lines: Sequence[str]) -> None:
    """Lists of the refused, other lists, locals, what comes back, what takes anything now, and tests drop nothing."""
    assert names(FactKind.SUPPORT_DROPPED, changed(path, *lines, under=under)) == []


def test_what_becomes_refused_is_dropped_though_it_is_written_again() -> None:
    """A value that only comes back in a list of the refused is no longer taken."""
    lines = [" METHODS = [", '-    "hqx",', " ]", " REMOVED_METHODS = [", '+    "hqx",', " ]"]
    assert names(FactKind.SUPPORT_DROPPED, changed("engine/quant.py", *lines)) == ["hqx"]


def test_a_registered_name_goes_with_its_class() -> None:
    """What users name is dropped beside the class that code imports; a table of how to treat it is of no matter."""
    entry, path = '-    "OwlForCausalLM": ("owl", "OwlForCausalLM"),', "engine/registry.py"
    gone = changed("engine/models/owl.py", "-class OwlForCausalLM:", "-    x = 1", under="x = 1")
    listed = changed(path, entry, under="_TEXT_MODELS = {")
    assert breaking(gone, listed) == [
        ("dropped support", "OwlForCausalLM"),
        ("removed public name", "OwlForCausalLM"),
    ]
    treated = changed(path, "-class OwlConfig:", "-    x = 1", " MODELS_MAP = {", '-    "Owl": OwlConfig,', " }")
    assert breaking(treated) == []


@pytest.mark.parametrize(
    ("lines", "under", "found"),
    [
        (['-    "owl": ("birds", "OwlLoader"),', '+    "owls": ("birds", "OwlLoader"),'], "_LOADERS = {", ("renamed registry entry", "owl")),
        (['-@Loaders.register("owl")', "-class OwlLoader(Old):", "+class OwlLoader:", " x = 1", " LOADERS = {", '+    "owls": ("birds", "OwlLoader"),', " }"], "", ("renamed registry entry", "owl")),
        (['-    "owl": ("birds", "OwlLoader"),', '+    "owls": ("owls", "OwlsLoader"),'], "_LOADERS = {", None),
        (['-    "owl_32",', '+    "owl32",'], "METHODS = [", None),
    ],
)  # fmt: skip
def test_a_registered_name_may_be_another(lines: Sequence[str], under: str, found: tuple[str, str] | None) -> None:
    """The same class under one new name is a renaming; what is only similar may be one, and nothing is told."""
    assert breaking(changed("engine/loaders.py", *lines, under=under)) == ([found] if found else [])


def test_an_image_that_goes_is_dropped() -> None:
    """Others build from a Dockerfile."""
    gone = file("docker/Dockerfile.tpu", "@@ -1,1 +0,0 @@\n-FROM x", status="removed")
    assert breaking(gone) == [("dropped support", "docker/Dockerfile.tpu")]


@pytest.mark.parametrize(
    ("path", "lines", "fact"),
    [
        ("pyproject.toml", ['-requires-python = ">=3.9,<3.14"', '+requires-python = ">=3.10,<3.14"'], ("requires-python", "3.9", "3.10")),
        ("setup.py", ['-    python_requires=">=3.9",', '+    python_requires=">=3.10",'], ("python_requires", "3.9", "3.10")),
        ("setup.cfg", ["-python_requires = >= 3.9", "+python_requires = >= 3.10"], ("python_requires", "3.9", "3.10")),
        ("pyproject.toml", ['-requires-python = "<4,>=3.9"', '+requires-python = "<4,>=3.10"'], ("requires-python", "3.9", "3.10")),
        ("CMakeLists.txt", ["-set(CMAKE_CXX_STANDARD 17)", "+set(CMAKE_CXX_STANDARD 20)"], ("CMAKE_CXX_STANDARD", "17", "20")),
        ("CMakeLists.txt", ["-cmake_minimum_required(VERSION 3.26)", "+cmake_minimum_required(VERSION 3.31)"], ("cmake_minimum_required", "3.26", "3.31")),
        ("Cargo.toml", ['-rust-version = "1.70"', '+rust-version = "1.80"'], ("rust-version", "1.70", "1.80")),
        ("engine/versions.py", ['-MIN_CUDA_VERSION = "12.4"', '+MIN_CUDA_VERSION = "12.8"'], ("MIN_CUDA_VERSION", "12.4", "12.8")),
        ("pyproject.toml", ['-requires-python = ">=3.9,<3.14"', '+requires-python = ">=3.9,<3.15"'], None),
        ("pyproject.toml", ['-requires-python = ">=3.10"', '+requires-python = ">=3.9"'], None),
        ("docs/install.md", ['-requires-python = ">=3.9"', '+requires-python = ">=3.10"'], None),
    ],
)  # fmt: skip
def test_a_least_version_that_rises_is_told(path: str, lines: Sequence[str], fact: tuple[str, str, str] | None) -> None:
    """Of the language, the build and what is compiled against; a wider range and a lower floor break nobody."""
    assert told(FactKind.MINIMUM_RAISED, changed(path, *lines)) == ([fact] if fact else [])


def test_what_only_an_example_needs_is_no_least_version() -> None:
    """People install the project, not what shows how it is used."""
    lines = ['-requires-python = ">=3.9"', '+requires-python = ">=3.10"']
    assert names(FactKind.MINIMUM_RAISED, changed("examples/web/pyproject.toml", *lines)) == []


def test_what_was_listed_twice_is_still_taken() -> None:
    """An author who takes away a duplicate drops nothing, though the diff does not show the other."""
    gone = changed("engine/parsers.py", "-Parsers.register(", '-    name="owl",', "-)")
    assert breaking(gone) == [("dropped support", "owl")]
    assert breaking(gone, title="Remove duplicate registration of a parser") == []
