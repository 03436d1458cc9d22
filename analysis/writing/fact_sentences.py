"""Sentences about facts: the change, its consequence, and the advice."""

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

FACT_SENTENCES = {
    FactKind.REMOVED_ENV: FactSentences(
        mark("Removes {what}"),
        _VARIABLE,
        mark("where it is still set, the setting is silently ignored, or startup fails"),
        mark("Before you upgrade, remove {names} from your launch scripts, images and manifests."),
    ),
    FactKind.RENAMED_ENV: FactSentences(
        mark("Renames {what}"),
        _VARIABLE,
        mark("the old name no longer has any effect"),
        mark("Use the new name in your deployments: {names}."),
    ),
    FactKind.REMOVED_FLAG: FactSentences(
        mark("Removes {what}"),
        _FLAG,
        mark("commands that still pass it fail at startup"),
        mark("Remove {names} from your launch commands."),
    ),
    FactKind.RENAMED_FLAG: FactSentences(
        mark("Renames {what}"),
        _FLAG,
        mark("commands with the old name fail at startup"),
        mark("Use the new flag in your launch commands: {names}."),
    ),
    FactKind.REMOVED_KEY: FactSentences(
        mark("Removes {what}"),
        _KEY,
        mark("where it is still set, the setting is rejected or silently ignored"),
        mark("Remove {names} from your configuration."),
    ),
    FactKind.RENAMED_KEY: FactSentences(
        mark("Renames {what}"),
        _KEY,
        mark("the old key no longer has any effect"),
        mark("Use the new key in your configuration: {names}."),
    ),
    FactKind.REMOVED_ROUTE: FactSentences(
        mark("Removes {what}"),
        _ROUTE,
        mark("clients that still call it get a 404"),
        mark("Check your clients and gateways for calls to {names}."),
    ),
    FactKind.RENAMED_ROUTE: FactSentences(
        mark("Changes {what}"),
        _ROUTE,
        mark("clients that call the old route get a 404"),
        mark("Switch your clients and gateways to the new route: {names}."),
    ),
    FactKind.REMOVED_METRIC: FactSentences(
        mark("Removes {what}"),
        _METRIC,
        mark("dashboards and alerts that read it show nothing"),
        mark("Check your dashboards and alerts for {names}."),
    ),
    FactKind.RENAMED_METRIC: FactSentences(
        mark("Renames {what}"),
        _METRIC,
        mark("dashboards and alerts that read the old name show nothing"),
        mark("Use the new name in your dashboards and alerts: {names}."),
    ),
    FactKind.REMOVED_FIELD: FactSentences(
        mark("Removes {what}"),
        _FIELD,
        mark("clients that read or send it fail"),
        mark("Check your clients for uses of {names}."),
    ),
    FactKind.RENAMED_FIELD: FactSentences(
        mark("Renames {what}"),
        _FIELD,
        mark("clients that read or send the old field fail"),
        mark("Use the new field in your clients: {names}."),
    ),
    FactKind.REQUIRED_FIELD: FactSentences(
        mark("Now requires {what}"),
        _FIELD,
        mark("requests without it are rejected"),
        mark("Add it to the requests of your clients: {names}."),
    ),
    FactKind.VALUES_DROPPED: FactSentences(
        mark("Changes the accepted values of {what}"),
        _NAME,
        mark("where an old value is still set, startup or the request fails"),
        mark("Before you upgrade, check the values that you set: {names}."),
    ),
    FactKind.SUPPORT_DROPPED: FactSentences(
        mark("Drops support for {what}"),
        _NAME,
        mark("deployments that use it fail"),
        mark("Before you upgrade, check that none of your deployments uses {names}."),
    ),
    FactKind.ENTRY_RENAMED: FactSentences(
        mark("Renames {what}"),
        _REGISTERED,
        mark("deployments that use the old name fail"),
        mark("Use the new name in your deployments: {names}."),
    ),
    FactKind.MINIMUM_RAISED: FactSentences(
        mark("Raises the minimum version of {what}"),
        _VERSION,
        mark("installation and builds fail in older environments"),
        mark("Upgrade your environments first: {names}."),
    ),
    FactKind.REMOVED_NAME: FactSentences(
        mark("Removes {what}"),
        _NAME,
        mark("plug-ins and forks that import it fail"),
        mark("Check your plug-ins and forks for uses of {names}."),
    ),
    FactKind.RENAMED_NAME: FactSentences(
        mark("Renames {what}"),
        _NAME,
        mark("code that imports the old name fails"),
        mark("Use the new name in your plug-ins and forks: {names}."),
    ),
    FactKind.MOVED_NAME: FactSentences(
        mark("Moves {what}"),
        _NAME,
        mark("plug-ins and forks that import it from the old module fail"),
        mark("Import from the new module in your plug-ins and forks: {names}."),
    ),
    FactKind.MOVED_MODULE: FactSentences(
        mark("Moves {what}"),
        _MODULE,
        mark("plug-ins and forks that import it by the old path fail"),
        mark("Update the imports in your plug-ins and forks: {names}."),
    ),
    FactKind.REMOVED_METHOD: FactSentences(
        mark("Removes {what}"),
        _METHOD,
        mark("code that calls it fails, and overrides of it are no longer called"),
        mark("Check your plug-ins and forks for calls and overrides of {names}."),
    ),
    FactKind.RENAMED_METHOD: FactSentences(
        mark("Renames {what}"),
        _METHOD,
        mark("code that calls it by the old name fails, and overrides of it are no longer called"),
        mark("Rename the calls and overrides in your plug-ins and forks: {names}."),
    ),
    FactKind.REMOVED_ATTRIBUTE: FactSentences(
        mark("Removes {what}"),
        _ATTRIBUTE,
        mark("code that reads it fails"),
        mark("Check your plug-ins and forks for uses of {names}."),
    ),
    FactKind.MEMBER_KIND: FactSentences(
        mark("Changes whether {what} is called or read"),
        _NAME,
        mark("code that uses it the old way breaks"),
        mark("Update the uses in your plug-ins and forks: {names}."),
    ),
    FactKind.RETURNED_VALUES: FactSentences(
        mark("Changes how many values come back from {what}"),
        _FUNCTION,
        mark("code that unpacks the result fails, as does code that uses an override's"),
        mark("Update the calls and overrides in your plug-ins and forks: {names}."),
    ),
    FactKind.REMOVED_BASE: FactSentences(
        mark("Removes {what}"),
        _BASE,
        mark("inherited members and type checks no longer work"),
        mark("Check your plug-ins and forks for uses of {names}."),
    ),
    FactKind.REMOVED_PARAMETER: FactSentences(
        mark("Removes {what}"),
        _PARAMETER,
        mark("calls that still pass it fail"),
        mark("Update the calls in your plug-ins and forks: {names}."),
    ),
    FactKind.RENAMED_PARAMETER: FactSentences(
        mark("Renames {what}"),
        _PARAMETER,
        mark("calls that pass it by the old name fail"),
        mark("Use the new parameter name in your plug-ins and forks: {names}."),
    ),
    FactKind.REQUIRED_PARAMETER: FactSentences(
        mark("Now requires {what}"),
        _PARAMETER,
        mark("calls that do not pass it fail"),
        mark("Add the argument to the calls in your plug-ins and forks: {names}."),
    ),
    FactKind.MOVED_PARAMETER: FactSentences(
        mark("Changes the position of {what}"),
        _PARAMETER,
        mark("calls that pass arguments by position break"),
        mark("Pass these arguments by name in your plug-ins and forks: {names}."),
    ),
    FactKind.PARAMETER_KIND: FactSentences(
        mark("Changes how to pass {what}"),
        _PARAMETER,
        mark("calls that pass it the other way fail"),
        mark("Update the calls in your plug-ins and forks: {names}."),
    ),
    FactKind.ADDED_PARAMETER: FactSentences(
        mark("Adds {what}"),
        _PARAMETER,
        mark("overrides that do not accept it fail when it is passed"),
        mark("Accept the new parameter in your overrides: {names}."),
    ),
    FactKind.REQUIRED_METHOD: FactSentences(
        mark("Adds {what}"),
        _ABSTRACT,
        mark("subclasses that lack it cannot be instantiated"),
        mark("Implement {names} in your subclasses."),
    ),
    FactKind.RETYPED: FactSentences(
        mark("Changes the type of {what}"),
        _NAME,
        mark("code that relies on the old type may fail"),
        mark("Check the uses in your plug-ins and forks: {names}."),
    ),
    FactKind.DEFAULT_CHANGED: FactSentences(
        mark("Changes the default of {what}"),
        _NAME,
        mark("deployments that do not set it behave differently"),
        mark("To keep the old behaviour, {how}."),
    ),
    FactKind.SETTING_ON: FactSentences(
        mark("Adds {what}, on by default"),
        _NEW_NAME,
        mark("deployments that do not set it behave differently"),
        mark("To turn it off, {how}."),
    ),
    FactKind.VALUES_ADDED: FactSentences(mark("Adds accepted values of {what}"), _NAME),
    FactKind.NEW_SETTING: FactSentences(mark("Adds {what}"), _NEW_NAME),
    FactKind.NEW_METHOD: FactSentences(mark("Adds {what}"), _METHOD),
    FactKind.CONDITIONAL_DEFAULT: FactSentences(
        mark("Sets {what} in some configurations"),
        _NAME,
        mark("deployments with such a configuration behave differently"),
        mark("Check whether your deployments rely on {names}."),
    ),
    FactKind.DEPRECATED: FactSentences(
        mark("Deprecates {what}"),
        _NAME,
        mark("a later version removes it"),
        mark("Replace it before it is removed: {names}."),
    ),
    FactKind.DEPENDENCY_MOVED: FactSentences(
        mark("Changes the version of {what}"),
        _VERSION,
        mark("conflicts with environments that pin another version"),
        mark("Rebuild your images and check the versions that you pin: {names}."),
    ),
    FactKind.DEPENDENCY_ADDED: FactSentences(mark("Adds {what}"), _DEPENDENCY),
    FactKind.DEPENDENCY_REMOVED: FactSentences(mark("Drops {what}"), _DEPENDENCY),
    FactKind.EXTRA_ADDED: FactSentences(mark("Adds {what}"), _EXTRA),
    FactKind.EXTRA_REMOVED: FactSentences(mark("Drops {what}"), _EXTRA),
    FactKind.EXTRA_MOVED: FactSentences(mark("Changes the version of {what}"), _EXTRA),
    FactKind.FILE_DELETED: FactSentences(mark("Deletes {what}"), _FILE),
    FactKind.TEST_REMOVED: FactSentences(
        mark("Removes or skips {what}"), _TEST, mark("what the removed tests covered is no longer tested")
    ),
    FactKind.CONCURRENCY: FactSentences(
        mark("Touches concurrency: {what}"),
        _NAME,
        mark("timing under load may change"),
        mark("Run a load test before you roll it out."),
    ),
    FactKind.MEMORY: FactSentences(
        mark("Touches memory ownership: {what}"),
        _NAME,
        mark("memory use may change, or memory be freed twice"),
        mark("Watch memory use after the upgrade."),
    ),
    FactKind.SECURITY: FactSentences(
        mark("Security: {what}"),
        _NAME,
        mark("earlier versions may be affected"),
        mark("Upgrade deployments that untrusted clients can reach first."),
    ),
    FactKind.REVERT: FactSentences(
        mark("Reverts {what}"),
        _NAME,
        mark("code that relies on the reverted change breaks"),
        mark("If you already use the reverted change, check that nothing depends on it."),
    ),
    FactKind.LAYOUT: FactSentences(
        mark("Changes only formatting, comments, docstrings or import order: {what}"), _NAME
    ),
}
