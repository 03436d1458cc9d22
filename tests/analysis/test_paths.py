"""What a path tells of its file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.paths import Kind, area, kind


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("vllm/engine/core.py", Kind.SOURCE),
        ("csrc/attention/paged.cu", Kind.SOURCE),
        ("setup.sh", Kind.SOURCE),
        ("vllm/latest.py", Kind.SOURCE),
        ("vllm/contest/x.py", Kind.SOURCE),
        ("vllm/documents.py", Kind.SOURCE),
        ("CMakeLists.txt", Kind.BUILD),
        ("docker/Dockerfile.rocm", Kind.BUILD),
        ("Makefile", Kind.BUILD),
        ("requirements/cuda.txt", Kind.DEPENDENCY),
        ("requirements-dev.txt", Kind.DEPENDENCY),
        ("pyproject.toml", Kind.DEPENDENCY),
        ("rust/Cargo.toml", Kind.DEPENDENCY),
        ("requirements/test.in", Kind.DEPENDENCY),
        (".github/workflows/ci.yml", Kind.CI),
        (".buildkite/test-pipeline.yaml", Kind.CI),
        (".pre-commit-config.yaml", Kind.CI),
        ("tests/v1/test_core.py", Kind.TEST),
        ("vllm/test_utils.py", Kind.TEST),
        ("pkg/server_test.go", Kind.TEST),
        ("src/app.spec.ts", Kind.TEST),
        ("conftest.py", Kind.TEST),
        ("docs/serving.md", Kind.DOCS),
        ("README", Kind.DOCS),
        ("LICENSE", Kind.DOCS),
        ("logo.PNG", Kind.DOCS),
        ("examples/offline.py", Kind.EXAMPLE),
        ("sample/app.py", Kind.EXAMPLE),
        ("engine/sample/sampler.py", Kind.SOURCE),  # drawing a token is no example
        ("benchmarks/latency.py", Kind.EXAMPLE),
        ("vllm/configs/a100.json", Kind.DATA),
        ("data.bin", Kind.DATA),
        ("noextension", Kind.DATA),
        ("uv.lock", Kind.GENERATED),
        ("web/package-lock.json", Kind.GENERATED),
        ("api/engine_pb2.py", Kind.GENERATED),
        ("static/app.min.js", Kind.GENERATED),
        ("third_party/fmt/format.h", Kind.VENDORED),
        ("vendor/tests/test_x.py", Kind.VENDORED),
    ],
)
def test_a_path_tells_the_kind_of_its_file(path: str, found: Kind) -> None:
    """Folders, names and endings tell source from tests, documents, builds, dependencies and what nobody wrote."""
    assert kind(path) is found


@given(st.text(min_size=1, max_size=30))
def test_every_path_has_a_kind_whatever_its_case(path: str) -> None:
    """No path is without a kind, and upper case makes no difference."""
    assert kind(path) is kind(path.lower())


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("setup.py", "setup.py"),
        ("vllm/envs.py", "vllm"),
        ("vllm/v1/core.py", "vllm/v1"),
        ("vllm/v1/core/sched.py", "vllm/v1/core"),
        ("vllm/v1/core/sched/a/b.py", "vllm/v1/core"),
    ],
)
def test_an_area_is_three_folders_at_most(path: str, part: str) -> None:
    """A file lies in its first folders, and at the root in itself."""
    assert area(path) == part
