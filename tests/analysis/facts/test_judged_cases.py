"""Kinds of wrong facts that people found when they judged a draw, each beside what is still told."""

from analysis.facts import facts
from analysis.models import Fact, FactKind, Trees
from tests.analysis.facts.test_whole_files import CORE, Files, change, found, told
from tests.factories import commit

REMOVED_ENV = FactKind.REMOVED_ENV


def names(facts: list[Fact], kind: FactKind) -> list[str]:
    return [fact.name for fact in facts if fact.kind is kind]


def every(before: str, after: str) -> list[Fact]:
    """All facts of a commit that changes one module."""
    trees = Trees(Files({CORE: before}), Files({CORE: after}))
    return list(facts(commit("Do it", [change(CORE, before, after)]), trees))


def test_a_parameter_is_renamed_though_another_one_goes() -> None:
    """A parameter of the same place and type is the successor, and only what has none is removed or required."""
    before, after = "def hash_items(items: list, a: int):\n    ...\n", "def hash_items(data: list):\n    ...\n"
    assert told(before, after) == [("removed parameter", "hash_items(a)"), ("renamed parameter", "hash_items(items)")]


def test_what_the_class_deletes_itself_was_never_there() -> None:
    """A helper that the class's body, or the module, deletes again is not missed when it goes."""
    text = "class App:\n    def _set(self):\n        ...\n\n    auto = property(_set)\n    {}\n"
    after = "class App:\n    auto = 1\n"
    assert told(text.format("del _set"), after) == []
    assert told(text.format("keep = 1"), after) != []
    assert told("def load(): ...\nx = load()\ndel load\n", "x = 1\n") == []


def test_another_class_of_the_same_name_requires_nothing_of_its_subclasses() -> None:
    """Where a new file gives the name to another class, their members are not compared."""
    old = "class State:\n    def run(self): ...\n    def stop(self): ...\n    def load(self): ...\n"
    new = "from abc import abstractmethod\n\nclass State:\n    @abstractmethod\n    def stage(self): ...\n"
    package = {"engine/state/__init__.py": "from engine.state.interface import State\n"}
    assert told({"engine/state.py": old}, {**package, "engine/state/interface.py": new}) == []
    kept = old + "    @staticmethod\n    def more(): ...\n"
    gone = kept.replace("    def stop(self): ...\n", "")
    same = told({"engine/state.py": kept}, {**package, "engine/state/interface.py": gone})
    assert same == [("removed method", "State.stop")]


def test_a_module_that_moves_into_the_source_folder_is_imported_as_before() -> None:
    """A package that is installed from `src` from now on has the same modules."""
    text = "def load(): ...\n"
    assert told({"engine/core.py": text}, {"src/engine/core.py": text}) == []


def test_a_variable_that_the_file_still_defines_is_not_removed() -> None:
    """Without its declaration for type checkers a variable is still read, if the file's table says so."""
    text = 'import os\n\n{}x = {{\n    "POOL_FAST": lambda: os.getenv("POOL_FAST"),\n{}}}\n'
    declared, other = "POOL_FAST: str | None = None\n", '    "POOL_SLOW": lambda: os.getenv("POOL_SLOW"),\n'
    facts = found({"pool/envs.py": text.format(declared, other)}, {"pool/envs.py": text.format("", "")})
    assert names(facts, REMOVED_ENV) == ["POOL_SLOW"]


def test_special_treatment_that_ends_drops_no_support() -> None:
    """A table's entry that goes with the handler in its own file leaves the model as supported as it was."""
    handlers = "class Alpha:\n    pass\n\n\nclass Beta:\n    pass\n\n\nMODEL_HANDLERS = {\n{}}\n"
    both, one = '    "Alpha": Alpha,\n    "Beta": Beta,\n', '    "Alpha": Alpha,\n'
    before = handlers.replace("{}", both)
    after = before.replace("class Beta:\n    pass\n\n\n", "").replace(both, one)
    assert names(found({"pool/models.py": before}, {"pool/models.py": after}), FactKind.SUPPORT_DROPPED) == []
    listed = 'MODEL_NAMES = {\n    "Alpha": 1,\n    "Beta": 2,\n}\n'
    shorter = 'MODEL_NAMES = {\n    "Alpha": 1,\n}\n'
    assert names(found({"pool/models.py": listed}, {"pool/models.py": shorter}), FactKind.SUPPORT_DROPPED) == ["Beta"]


def test_what_was_deprecated_is_no_internal() -> None:
    """A deprecated member whose class is used in its own file is told when it goes, though no other file had to follow."""
    text = "class Request:\n{}    size: int = 1\n\n\ndef make() -> Request:\n    return Request()\n"
    member = "    @property\n    {}def old(self):\n        return 1\n\n"
    marked, plain = (member.format(each) for each in ('@deprecated("use size")\n    ', ""))
    alone = {"engine/core.py": text.format("")}
    assert [each.name for each in found({"engine/core.py": text.format(marked)}, alone, use=False)] == ["Request.old"]
    assert found({"engine/core.py": text.format(plain)}, alone, use=False) == []


def test_a_type_that_is_only_spelled_otherwise_is_no_other_type() -> None:
    """The typing module's names and the built-in ones are the same types, inside a tuple as well."""
    before = "class Loader:\n    def load(self) -> t.Tuple[str, t.Optional[str]]:\n        ...\n"
    same = before.replace("t.Tuple[str, t.Optional[str]]", "tuple[str, str | None]")
    other = before.replace("t.Tuple[str, t.Optional[str]]", "tuple[str, str | None, int]")
    changes = [named for after in (same, other) for named in names(every(before, after), FactKind.RETURNED_VALUES)]
    assert changes == ["Loader.load"]


def test_a_type_that_was_wrong_is_no_other_result() -> None:
    """One value instead of two is told if a statement returns otherwise, not if only the annotation follows the code."""
    before = "def load(path) -> tuple[str, int]:\n    {}\n    return text\n"
    same, other = (
        before.format(line).replace("tuple[str, int]", "str").replace("return text", result)
        for line, result in (("text = path", "return text"), ("text = path", "return text.strip()"))
    )
    old = before.format("text = path")
    changes = [named for after in (same, other) for named in names(every(old, after), FactKind.RETURNED_VALUES)]
    assert changes == ["load"]
    assert names(every(old, same), FactKind.RETYPED) == []


def test_a_flag_of_the_projects_own_scripts_is_nobodys() -> None:
    """What a script for developers no longer takes breaks no user; what a command of the product no longer takes does."""
    text = 'import argparse\np = argparse.ArgumentParser()\n{}p.add_argument("--keep")\n'
    before, after = text.format('p.add_argument("--browse")\n'), text.format("")
    assert told({"scripts/try.py": before}, {"scripts/try.py": after}) == []
    assert told({"engine/cli.py": before}, {"engine/cli.py": after}) == [("removed flag", "--browse")]
