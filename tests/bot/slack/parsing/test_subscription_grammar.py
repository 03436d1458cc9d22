"""What people write after `subscribe`, however they write it, and what they are told where it cannot be."""

from datetime import date, time

import pytest

from analysis.errors import BadSetting, Misuse
from analysis.models import Importance, Language, Repository
from bot.slack.parsing.command_types import Command, Day, ListSubscriptions, Subscribe, Unsubscribe
from bot.slack.parsing.commands import parse
from bot.slack.parsing.input import InputError, named, plain
from bot.slack.parsing.subscription_options import (
    SubscriptionOptions,
    default_options,
    parse_paths,
    parse_time,
    parse_zone,
)
from bot.store import Weekday

FLASK, STABLE = Repository.parse("Pallets/flask"), Repository.parse("Pallets/flask@stable")
FORK = Repository.parse("someone/flask")
TODAY = date(2026, 2, 6)


def wish(
    text: str, known: tuple[Repository, ...] = (FLASK, STABLE), usual: tuple[Repository, ...] = (FLASK,)
) -> Command:
    return parse(plain(text, "U0BOT"), known, TODAY, usual)


def wanted(text: str) -> SubscriptionOptions:
    found = wish(text)
    assert isinstance(found, Subscribe), found
    return found.options


def told(text: str, language: Language = "en") -> str:
    with pytest.raises(InputError) as found:
        wish(text)
    return found.value.translated(language)


@pytest.mark.parametrize(
    "text",
    [
        "subscribe flask at 08:30",
        "subscribe at 08:30 flask",
        "flask subscribe at 8：30;",
        "subscribe pallets/FLASK, at 8:30",
        "subscribe <https://github.com/pallets/flask|pallets/flask> at 08:30",
        "订阅 github.com/pallets/flask/ at 08:30",
    ],
)
def test_a_repository_and_a_time_are_read_wherever_they_stand(text: str) -> None:
    """The repository may stand anywhere, as a name or an address."""
    assert wanted(text) == SubscriptionOptions(repository=FLASK, at=time(8, 30))


def test_options_stand_in_any_order() -> None:
    """Each option's value ends where the next option begins."""
    assert wanted("subscribe flask@stable paths csrc/** *.cu min medium lang ZH, tz Asia/shanghai at 9:30") == (
        SubscriptionOptions(
            repository=STABLE,
            at=time(9, 30),
            timezone="Asia/Shanghai",
            language="zh",
            least=Importance.MEDIUM,
            paths=("csrc/**", "*.cu"),
        )
    )


WORKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri")
TEN = time(10)
DAYS: tuple[tuple[str, SubscriptionOptions], ...] = (
    ("days mon-fri quiet on", SubscriptionOptions(days=WORKDAYS, quiet="on")),
    ("quiet days mon-fri releases", SubscriptionOptions(days=WORKDAYS, quiet="on", releases="on")),
    ("days Mon, wed，fri quiet OFF", SubscriptionOptions(days=("mon", "wed", "fri"), quiet="off")),
    ("days fri–mon flask", SubscriptionOptions(repository=FLASK, days=("mon", "fri", "sat", "sun"))),
    ("at mon 10:00", SubscriptionOptions(at=TEN, days=("mon",))),
    ("at mon-tue,thu 10:00 weekly fri", SubscriptionOptions(at=TEN, days=("mon", "tue", "thu"), weekly="fri")),
    ("days all at 10:00", SubscriptionOptions(at=TEN, days=())),
    ("days mon-wed,thu-sun", SubscriptionOptions(days=())),
)


@pytest.mark.parametrize(("text", "options"), DAYS)
def test_weekdays_are_a_list_or_ranges(text: str, options: SubscriptionOptions) -> None:
    """They stand alone or before a time, in their order whatever the typed one; all of them are no choice."""
    assert wanted(f"subscribe {text}") == options


@pytest.mark.parametrize("text", ["", "9", "25:00", "9:60", "9am", "9:5", "noon", "24:00", "٩:٠٠"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """Neither a bare number nor an hour that no clock shows is a time."""
    with pytest.raises(Misuse, match="not a valid time"):
        parse_time(text)


def test_a_zone_is_known_in_any_case() -> None:
    """A time zone is spelled as the database spells it; names that depend on the machine are none."""
    assert [parse_zone(each) for each in ("asia/shanghai", "utc", "America/new_york")] == [
        "Asia/Shanghai",
        "UTC",
        "America/New_York",
    ]
    for name in ("localtime", "Factory", "posix/UTC", "right/UTC", "Mars/Olympus", "", "../etc"):
        with pytest.raises(Misuse, match="unknown time zone"):
            parse_zone(name)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("\"csrc/**\", '*.cu'", ("csrc/**", "*.cu")),
        ("“csrc/**”，‘*.cu’、「vllm/v1/」", ("csrc/**", "*.cu", "vllm/v1/")),
        ("`csrc/`,", ("csrc/",)),
        ("./csrc/ /top.md [a-c]*.py", ("csrc/", "/top.md", "[a-c]*.py")),
        ("app/(auth)/** c++/ $HOME.md", ("app/(auth)/**", "c++/", "$HOME.md")),
        (" , ", ()),
    ],
)
def test_paths_are_read_out_of_any_quotes_and_commas(text: str, paths: tuple[str, ...]) -> None:
    """Quotes of any kind go, and commas of any kind or spaces divide."""
    assert parse_paths(text) == paths


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("csrc/*.{cu,cuh}", "braces don't work"),
        ("csrc/[a", "not a valid path"),
        ("csrc/[z-a]", "not a valid path"),
        ("../up/", "not a valid path"),
        ("a/../../b", "not a valid path"),
        ("C:\\src", "not a valid path"),
        ("d:/src", "not a valid path"),
        ("!x", "not a valid path"),
        ("(a+)+$", "not a valid path"),
        ("^src/", "not a valid path"),
        ("a|b", "not a valid path"),
        ("src/ **", "matches every file"),
        ("x" * 201, "is too long"),
        (",".join(map(str, range(21))), "21 paths are too many"),
    ],
)
def test_what_is_no_path_is_refused(text: str, said: str) -> None:
    """A path that could never match, or not as it looks, is refused with the reason."""
    with pytest.raises(Misuse, match=said):
        parse_paths(text)


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("subscribe at 9", "'9' is not a valid time", "时间“9”无效"),
        ("subscribe at", "'at' needs a value", "“at”后面缺少值"),
        ("subscribe at tz UTC", "'at' needs a value", "“at”后面缺少值"),
        ("subscribe lang fr", "'fr' is not supported; use zh or en", "不支持“fr”"),
        ("subscribe min huge", "'huge' is not a valid importance", "重要度“huge”无效"),
        ("subscribe at 9:00 at 10:00", "at is given twice", "at 出现了两次"),
        ("subscribe pahts csrc/", "did you mean paths?", "是想写 paths 吗"),
        ("unsubscribe django", "unknown repository 'django'", "没有名为“django”的仓库"),
        ("subscribe flask pallets/jinja", "covers one repository", "只对应一个仓库"),
        ("subscribe o/..", "is not a repository", "不是仓库"),
        ("subscribe flask 17", "unknown option", "没有选项“17”"),
        ("subscribe days moon", "'moon' is not a list of weekdays", "“moon”不是星期列表"),
        ("subscribe days mon at tue 10:00", "days is given twice", "days 出现了两次"),
        ("subscribe quiet maybe", "'maybe' is neither on nor off", "“maybe”既不是 on 也不是 off"),
    ],
)
def test_what_is_wrong_is_said_in_the_channels_language(text: str, english: str, chinese: str) -> None:
    """What cannot be read is named with what would have worked, in the language that it is shown in."""
    assert english in told(text)
    assert chinese in told(text, "zh")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("subscriptions", ListSubscriptions()),
        ("订阅列表", ListSubscriptions()),
        ("subscriptions all", ListSubscriptions(everywhere=True)),
        ("订阅列表 全部", ListSubscriptions(everywhere=True)),
        ("unsubscribe", Unsubscribe()),
        ("退订 flask", Unsubscribe(FLASK)),
        ("flask unsubscribe", Unsubscribe(FLASK)),
    ],
)
def test_subscriptions_are_listed_and_cancelled_by_a_word(text: str, meant: Command) -> None:
    """They are listed and cancelled by a word, in Chinese too."""
    assert wish(text) == meant


def test_a_short_name_stays_with_the_configured_repository() -> None:
    """A branch or a namesake that a channel subscribes to takes nobody's short name."""
    for known in ((FLASK, STABLE), (STABLE, FLASK), (FORK, STABLE, FLASK)):
        assert wish("flask 2026-02-05", known) == Day(date(2026, 2, 5), FLASK)
    assert named("flask@stable", (FLASK, STABLE, FORK), (FLASK,)) == STABLE
    assert named("flask@v2", (FLASK, STABLE, FORK), (FLASK,)) == Repository.parse("Pallets/flask@v2")
    assert named("flask", (STABLE,)) == STABLE
    assert named("flask", (FLASK, STABLE)) == FLASK


def test_a_short_name_of_several_is_asked_back() -> None:
    """Where no configured repository is meant, those that may be are named."""
    with pytest.raises(InputError) as found:
        wish("flask 2026-02-05", (FLASK, FORK), ())
    assert str(found.value) == "the name matches several repositories: Pallets/flask, someone/flask; use owner/name"


def test_a_known_repository_keeps_its_spelling() -> None:
    """A name typed in full is the known repository's in whatever case; a branch's case counts."""
    assert named("PALLETS/Flask", (FLASK,)) == FLASK
    assert named("pallets/flask@Stable", (FLASK, STABLE)) == Repository.parse("Pallets/flask@Stable")
    assert named("https://github.com/pallets/flask/tree/stable", (FLASK,)) == STABLE
    assert named("PALLETS/jinja", (FLASK,)) == Repository.parse("PALLETS/jinja")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("days moon", "'moon' is not a list of weekdays"),
        ("paths src/", "takes no repository, paths or downstream"),
        ("o/n quiet on", "takes no repository, paths or downstream"),
    ],
)
def test_the_operators_options_are_those_that_suit_every_channel(text: str, why: str) -> None:
    """DIGEST_SUBSCRIBE is read as what follows `subscribe`; what is wrong in it is an error of that setting."""
    expected = SubscriptionOptions(at=time(8, 30), days=WORKDAYS, quiet="on", least=Importance.MEDIUM)
    assert default_options("at mon-fri 8:30 quiet on min medium") == expected
    with pytest.raises(BadSetting, match=f"^DIGEST_SUBSCRIBE: {why}"):
        default_options(text)
