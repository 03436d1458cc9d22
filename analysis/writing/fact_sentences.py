"""Sentences about facts: the change, its consequence, and the advice."""

from collections.abc import Mapping
from typing import NamedTuple

from analysis.locale import Catalogue, mark
from analysis.locale.punctuation import spaced
from analysis.models import FactKind


class Noun(NamedTuple):
    """What facts of a kind are about, one and several; `bare` names stand without it."""

    one: str
    several: str
    bare: bool = False


class FactSentences(NamedTuple):
    """The sentences about a kind of fact, in English for the catalogue.

    `change` takes {what}, which is the `noun` with names or a count; `risk` stands alone, and `advice` takes {names} or
    {how}. No risk and no advice are empty.
    """

    change: str
    noun: Noun
    risk: str = ""
    advice: str = ""

    def named(self, names: str, count: int, say: Catalogue, owner: str = "") -> str:
        """Return the change with the names of what changed, `count` of them, and whose they are if they have one owner."""
        return spaced(say(self.change, what=self.what(names, count, say, owner)))

    def what(self, names: str, count: int, say: Catalogue, owner: str = "") -> str:
        """Return what changed, without the change: `methods a and b of Pool`."""
        noun = say(self.noun.one if count == 1 else self.noun.several)
        what = names if self.noun.bare else say("{noun} {names}", noun=noun, names=names)
        return say("{what} of {owner}", what=what, owner=owner) if owner else what

    def counted(self, count: int, say: Catalogue) -> str:
        """Return how many names changed, without them: `7 attributes`."""
        noun = say(self.noun.one if count == 1 else self.noun.several)
        return say("{count} {noun}", count=count, noun=noun)


_FLAG = Noun(mark("flag"), mark("flags"))
_VARIABLE = Noun(mark("environment variable"), mark("environment variables"))
_KEY = Noun(mark("configuration key"), mark("configuration keys"))
_ROUTE = Noun(mark("route"), mark("routes"))
_METRIC = Noun(mark("metric"), mark("metrics"))
_FIELD = Noun(mark("API field"), mark("API fields"))
_NAME = Noun(mark("name"), mark("names"), bare=True)
_NEW_NAME = Noun(mark("setting"), mark("settings"), bare=True)
_MODULE = Noun(mark("module"), mark("modules"))
_REGISTERED = Noun(mark("registered name"), mark("registered names"))
_FUNCTION = Noun(mark("function"), mark("functions"), bare=True)
_METHOD = Noun(mark("method"), mark("methods"))
_ABSTRACT = Noun(mark("abstract method"), mark("abstract methods"))
_ATTRIBUTE = Noun(mark("attribute"), mark("attributes"))
_PARAMETER = Noun(mark("parameter"), mark("parameters"))
_BASE = Noun(mark("base class"), mark("base classes"), bare=True)
_DEPENDENCY = Noun(mark("dependency"), mark("dependencies"))
_VERSION = Noun(mark("dependency"), mark("dependencies"), bare=True)
_EXTRA = Noun(mark("optional dependency"), mark("optional dependencies"))
_TEST = Noun(mark("test"), mark("tests"))
_FILE = Noun(mark("source file"), mark("source files"))

# What changed, and what that is about.
_CHANGES: Mapping[FactKind, tuple[str, Noun]] = {
    FactKind.REMOVED_ENV: (mark("Removes {what}"), _VARIABLE),
    FactKind.RENAMED_ENV: (mark("Renames {what}"), _VARIABLE),
    FactKind.REMOVED_FLAG: (mark("Removes {what}"), _FLAG),
    FactKind.RENAMED_FLAG: (mark("Renames {what}"), _FLAG),
    FactKind.REMOVED_KEY: (mark("Removes {what}"), _KEY),
    FactKind.RENAMED_KEY: (mark("Renames {what}"), _KEY),
    FactKind.REMOVED_ROUTE: (mark("Removes {what}"), _ROUTE),
    FactKind.RENAMED_ROUTE: (mark("Changes {what}"), _ROUTE),
    FactKind.REMOVED_METRIC: (mark("Removes {what}"), _METRIC),
    FactKind.RENAMED_METRIC: (mark("Renames {what}"), _METRIC),
    FactKind.REMOVED_FIELD: (mark("Removes {what}"), _FIELD),
    FactKind.RENAMED_FIELD: (mark("Renames {what}"), _FIELD),
    FactKind.REQUIRED_FIELD: (mark("Now requires {what}"), _FIELD),
    FactKind.VALUES_DROPPED: (mark("Changes the accepted values of {what}"), _NAME),
    FactKind.SUPPORT_DROPPED: (mark("Drops support for {what}"), _NAME),
    FactKind.ENTRY_RENAMED: (mark("Renames {what}"), _REGISTERED),
    FactKind.MINIMUM_RAISED: (mark("Raises the minimum version of {what}"), _VERSION),
    FactKind.REMOVED_NAME: (mark("Removes {what}"), _NAME),
    FactKind.RENAMED_NAME: (mark("Renames {what}"), _NAME),
    FactKind.MOVED_NAME: (mark("Moves {what}"), _NAME),
    FactKind.MOVED_MODULE: (mark("Moves {what}"), _MODULE),
    FactKind.REMOVED_METHOD: (mark("Removes {what}"), _METHOD),
    FactKind.RENAMED_METHOD: (mark("Renames {what}"), _METHOD),
    FactKind.REMOVED_ATTRIBUTE: (mark("Removes {what}"), _ATTRIBUTE),
    FactKind.MEMBER_KIND: (mark("Changes whether {what} is called or read"), _NAME),
    FactKind.RETURNED_VALUES: (mark("Changes how many values come back from {what}"), _FUNCTION),
    FactKind.REMOVED_BASE: (mark("Removes {what}"), _BASE),
    FactKind.REMOVED_PARAMETER: (mark("Removes {what}"), _PARAMETER),
    FactKind.RENAMED_PARAMETER: (mark("Renames {what}"), _PARAMETER),
    FactKind.REQUIRED_PARAMETER: (mark("Now requires {what}"), _PARAMETER),
    FactKind.MOVED_PARAMETER: (mark("Changes the position of {what}"), _PARAMETER),
    FactKind.PARAMETER_KIND: (mark("Changes how to pass {what}"), _PARAMETER),
    FactKind.ADDED_PARAMETER: (mark("Adds {what}"), _PARAMETER),
    FactKind.REQUIRED_METHOD: (mark("Adds {what}"), _ABSTRACT),
    FactKind.RETYPED: (mark("Changes the type of {what}"), _NAME),
    FactKind.DEFAULT_CHANGED: (mark("Changes the default of {what}"), _NAME),
    FactKind.SETTING_ON: (mark("Adds {what}, on by default"), _NEW_NAME),
    FactKind.VALUES_ADDED: (mark("Adds accepted values of {what}"), _NAME),
    FactKind.NEW_SETTING: (mark("Adds {what}"), _NEW_NAME),
    FactKind.NEW_METHOD: (mark("Adds {what}"), _METHOD),
    FactKind.CONDITIONAL_DEFAULT: (mark("Sets {what} in some configurations"), _NAME),
    FactKind.DEPRECATED: (mark("Deprecates {what}"), _NAME),
    FactKind.DEPENDENCY_MOVED: (mark("Changes the version of {what}"), _VERSION),
    FactKind.DEPENDENCY_ADDED: (mark("Adds {what}"), _DEPENDENCY),
    FactKind.DEPENDENCY_REMOVED: (mark("Drops {what}"), _DEPENDENCY),
    FactKind.EXTRA_ADDED: (mark("Adds {what}"), _EXTRA),
    FactKind.EXTRA_REMOVED: (mark("Drops {what}"), _EXTRA),
    FactKind.EXTRA_MOVED: (mark("Changes the version of {what}"), _EXTRA),
    FactKind.FILE_DELETED: (mark("Deletes {what}"), _FILE),
    FactKind.TEST_REMOVED: (mark("Removes or skips {what}"), _TEST),
    FactKind.CONCURRENCY: (mark("Touches concurrency: {what}"), _NAME),
    FactKind.MEMORY: (mark("Touches memory ownership: {what}"), _NAME),
    FactKind.SECURITY: (mark("Security: {what}"), _NAME),
    FactKind.REVERT: (mark("Reverts {what}"), _NAME),
    FactKind.LAYOUT: (mark("Changes only formatting, comments, docstrings or import order: {what}"), _NAME),
}
# What follows for others.
_RISKS: Mapping[FactKind, str] = {
    FactKind.REMOVED_ENV: mark("where it is still set, the setting is silently ignored, or startup fails"),
    FactKind.RENAMED_ENV: mark("the old name no longer has any effect"),
    FactKind.REMOVED_FLAG: mark("commands that still pass it fail at startup"),
    FactKind.RENAMED_FLAG: mark("commands with the old name fail at startup"),
    FactKind.REMOVED_KEY: mark("where it is still set, the setting is rejected or silently ignored"),
    FactKind.RENAMED_KEY: mark("the old key no longer has any effect"),
    FactKind.REMOVED_ROUTE: mark("clients that still call it get a 404"),
    FactKind.RENAMED_ROUTE: mark("clients that call the old route get a 404"),
    FactKind.REMOVED_METRIC: mark("dashboards and alerts that read it show nothing"),
    FactKind.RENAMED_METRIC: mark("dashboards and alerts that read the old name show nothing"),
    FactKind.REMOVED_FIELD: mark("clients that read or send it fail"),
    FactKind.RENAMED_FIELD: mark("clients that read or send the old field fail"),
    FactKind.REQUIRED_FIELD: mark("requests without it are rejected"),
    FactKind.VALUES_DROPPED: mark("where an old value is still set, startup or the request fails"),
    FactKind.SUPPORT_DROPPED: mark("deployments that use it fail"),
    FactKind.ENTRY_RENAMED: mark("deployments that use the old name fail"),
    FactKind.MINIMUM_RAISED: mark("installation and builds fail in older environments"),
    FactKind.REMOVED_NAME: mark("plug-ins and forks that import it fail"),
    FactKind.RENAMED_NAME: mark("code that imports the old name fails"),
    FactKind.MOVED_NAME: mark("plug-ins and forks that import it from the old module fail"),
    FactKind.MOVED_MODULE: mark("plug-ins and forks that import it by the old path fail"),
    FactKind.REMOVED_METHOD: mark("code that calls it fails, and overrides of it are no longer called"),
    FactKind.RENAMED_METHOD: mark("code that calls it by the old name fails, and overrides of it are no longer called"),
    FactKind.REMOVED_ATTRIBUTE: mark("code that reads it fails"),
    FactKind.MEMBER_KIND: mark("code that uses it the old way breaks"),
    FactKind.RETURNED_VALUES: mark("code that unpacks the result fails, as does code that uses an override's"),
    FactKind.REMOVED_BASE: mark("inherited members and type checks no longer work"),
    FactKind.REMOVED_PARAMETER: mark("calls that still pass it fail"),
    FactKind.RENAMED_PARAMETER: mark("calls that pass it by the old name fail"),
    FactKind.REQUIRED_PARAMETER: mark("calls that do not pass it fail"),
    FactKind.MOVED_PARAMETER: mark("calls that pass arguments by position break"),
    FactKind.PARAMETER_KIND: mark("calls that pass it the other way fail"),
    FactKind.ADDED_PARAMETER: mark("overrides that do not accept it fail when it is passed"),
    FactKind.REQUIRED_METHOD: mark("subclasses that lack it cannot be instantiated"),
    FactKind.RETYPED: mark("code that relies on the old type may fail"),
    FactKind.DEFAULT_CHANGED: mark("deployments that do not set it behave differently"),
    FactKind.SETTING_ON: mark("deployments that do not set it behave differently"),
    FactKind.CONDITIONAL_DEFAULT: mark("deployments with such a configuration behave differently"),
    FactKind.DEPRECATED: mark("a later version removes it"),
    FactKind.DEPENDENCY_MOVED: mark("conflicts with environments that pin another version"),
    FactKind.TEST_REMOVED: mark("what the removed tests covered is no longer tested"),
    FactKind.CONCURRENCY: mark("timing under load may change"),
    FactKind.MEMORY: mark("memory use may change, or memory be freed twice"),
    FactKind.SECURITY: mark("earlier versions may be affected"),
    FactKind.REVERT: mark("code that relies on the reverted change breaks"),
}
# What to do about it.
_ADVICE: Mapping[FactKind, str] = {
    FactKind.REMOVED_ENV: mark("Before you upgrade, remove {names} from your launch scripts, images and manifests."),
    FactKind.RENAMED_ENV: mark("Use the new name in your deployments: {names}."),
    FactKind.REMOVED_FLAG: mark("Remove {names} from your launch commands."),
    FactKind.RENAMED_FLAG: mark("Use the new flag in your launch commands: {names}."),
    FactKind.REMOVED_KEY: mark("Remove {names} from your configuration."),
    FactKind.RENAMED_KEY: mark("Use the new key in your configuration: {names}."),
    FactKind.REMOVED_ROUTE: mark("Check your clients and gateways for calls to {names}."),
    FactKind.RENAMED_ROUTE: mark("Switch your clients and gateways to the new route: {names}."),
    FactKind.REMOVED_METRIC: mark("Check your dashboards and alerts for {names}."),
    FactKind.RENAMED_METRIC: mark("Use the new name in your dashboards and alerts: {names}."),
    FactKind.REMOVED_FIELD: mark("Check your clients for uses of {names}."),
    FactKind.RENAMED_FIELD: mark("Use the new field in your clients: {names}."),
    FactKind.REQUIRED_FIELD: mark("Add it to the requests of your clients: {names}."),
    FactKind.VALUES_DROPPED: mark("Before you upgrade, check the values that you set: {names}."),
    FactKind.SUPPORT_DROPPED: mark("Before you upgrade, check that none of your deployments uses {names}."),
    FactKind.ENTRY_RENAMED: mark("Use the new name in your deployments: {names}."),
    FactKind.MINIMUM_RAISED: mark("Upgrade your environments first: {names}."),
    FactKind.REMOVED_NAME: mark("Check your plug-ins and forks for uses of {names}."),
    FactKind.RENAMED_NAME: mark("Use the new name in your plug-ins and forks: {names}."),
    FactKind.MOVED_NAME: mark("Import from the new module in your plug-ins and forks: {names}."),
    FactKind.MOVED_MODULE: mark("Update the imports in your plug-ins and forks: {names}."),
    FactKind.REMOVED_METHOD: mark("Check your plug-ins and forks for calls and overrides of {names}."),
    FactKind.RENAMED_METHOD: mark("Rename the calls and overrides in your plug-ins and forks: {names}."),
    FactKind.REMOVED_ATTRIBUTE: mark("Check your plug-ins and forks for uses of {names}."),
    FactKind.MEMBER_KIND: mark("Update the uses in your plug-ins and forks: {names}."),
    FactKind.RETURNED_VALUES: mark("Update the calls and overrides in your plug-ins and forks: {names}."),
    FactKind.REMOVED_BASE: mark("Check your plug-ins and forks for uses of {names}."),
    FactKind.REMOVED_PARAMETER: mark("Update the calls in your plug-ins and forks: {names}."),
    FactKind.RENAMED_PARAMETER: mark("Use the new parameter name in your plug-ins and forks: {names}."),
    FactKind.REQUIRED_PARAMETER: mark("Add the argument to the calls in your plug-ins and forks: {names}."),
    FactKind.MOVED_PARAMETER: mark("Pass these arguments by name in your plug-ins and forks: {names}."),
    FactKind.PARAMETER_KIND: mark("Update the calls in your plug-ins and forks: {names}."),
    FactKind.ADDED_PARAMETER: mark("Accept the new parameter in your overrides: {names}."),
    FactKind.REQUIRED_METHOD: mark("Implement {names} in your subclasses."),
    FactKind.RETYPED: mark("Check the uses in your plug-ins and forks: {names}."),
    FactKind.DEFAULT_CHANGED: mark("To keep the old behaviour, {how}."),
    FactKind.SETTING_ON: mark("To turn it off, {how}."),
    FactKind.CONDITIONAL_DEFAULT: mark("Check whether your deployments rely on {names}."),
    FactKind.DEPRECATED: mark("Replace it before it is removed: {names}."),
    FactKind.DEPENDENCY_MOVED: mark("Rebuild your images and check the versions that you pin: {names}."),
    FactKind.CONCURRENCY: mark("Run a load test before you roll it out."),
    FactKind.MEMORY: mark("Watch memory use after the upgrade."),
    FactKind.SECURITY: mark("Upgrade deployments that untrusted clients can reach first."),
    FactKind.REVERT: mark("If you already use the reverted change, check that nothing depends on it."),
}
FACT_SENTENCES = {
    kind: FactSentences(change, noun, _RISKS.get(kind, ""), _ADVICE.get(kind, ""))
    for kind, (change, noun) in _CHANGES.items()
}
