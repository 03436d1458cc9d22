"""The sentences that explain impacts."""

import pytest

from analysis.impact.sentences import explanation
from analysis.locale import Language
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace


def impact(
    kind: ImpactKind, cause: Cause, name: str, code: str = "", *, subjects: tuple[str, ...] = (), new: str | None = None
) -> Impact:
    return Impact(
        kind=kind,
        certainty=Certainty.PROVEN,
        cause=cause,
        name=name,
        subjects=subjects,
        new=new,
        upstream=UpstreamPlace(path="engine/core.py"),
        downstream=DownstreamPlace(path="plugin/worker.py", line=1, code=code),
    )


@pytest.mark.parametrize(
    ("code", "consequence"),
    [
        ("from engine.core import load", "this import fails"),
        ('with patch("engine.core.load"):', "this string no longer resolves"),
        ("@patch('engine.core.load.inner')", "this string no longer resolves"),
        ('from engine.core import load  # not "engine.core.loads"', "this import fails"),
    ],
)
def test_a_name_in_a_string_is_not_called_an_import(code: str, consequence: str) -> None:
    """A string such as `mock.patch` takes is told from an import statement."""
    gone = impact(ImpactKind.IMPORT, Cause.REMOVED, "engine.core.load", code)
    assert str(explanation(gone)) == f"`engine.core.load` is gone, so {consequence}"


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        (
            "en",
            "`Worker.step` now takes the optional parameter `a`, which this definition does not accept",
            "`Worker.step` now takes the optional parameters `a`, `b`, which this definition does not accept",
        ),
        (
            "zh",
            "`Worker.step` 新增了可选参数 `a`，而这处定义不接受",
            "`Worker.step` 新增了可选参数 `a`、`b`，而这处定义不接受",
        ),
    ],
)
def test_parameters_are_listed_as_the_language_does(language: Language, one: str, two: str) -> None:
    """Several parameters share a sentence, with the separator of its language."""
    found = [
        impact(ImpactKind.OVERRIDE, Cause.PARAMETER_ADDED, "engine.core.Worker.step", subjects=each)
        for each in (("a",), ("a", "b"))
    ]
    assert [explanation(each).translated(language) for each in found] == [one, two]


@pytest.mark.parametrize(
    ("new", "shown"),
    [
        ("engine.core.Worker.run", "Worker.run"),
        ("engine.core.inner.Worker.run", "engine.core.inner.Worker.run"),
        ("engine.runner.Runner.step", "engine.runner.Runner.step"),
    ],
)
def test_a_new_name_is_as_short_as_the_old_one_if_both_are_of_one_module(new: str, shown: str) -> None:
    """A member that was renamed is named without its module, one that moved to another module with it."""
    renamed = impact(ImpactKind.CALL, Cause.RENAMED, "engine.core.Worker.step", new=new)
    assert str(explanation(renamed)) == f"`Worker.step` is now `{shown}`, so this call fails"
