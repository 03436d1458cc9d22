"""Some days for two channels, delivered by a bot that is killed again and again; and what must have come of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from random import Random
from time import sleep
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from analysis.llm import ChatModel
from analysis.models import Repository
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.limits import MeteredModel
from bot.slack.messages.digest import digest_messages
from bot.store import Store, Subscriptions, Terms, open_engine
from bot.store.executors import TIMING, Timing
from loopback.slack import Fault
from tests.conftest import recorded
from tests.servers.killed import CHANNELS, MODEL, Death, Killable, Moment, Posted, killable, more

TENTH = Timing(*(each / 10 for each in TIMING))

_REPOSITORY = Repository(owner="o", name="n")
_A_DAY = 6
_POST, _FILE = "chat.postMessage$", "files.completeUploadExternal$"
_LATER = (
    ("posting",),
    ("posting",),
    ("frozen",),
    ("lost message",),
    ("sent",),
    ("uploaded",),
    ("dropped message", "looking up"),
    ("dropped file", "looking up"),
    ("late message",),
    ("any time",),
    ("reading",),
    ("analysing",),
)
# A stage is interrupted between so many seconds after its sign, or so many after the bot listens, if no sign comes.
_SECONDS = {
    "start-up": (0.3, 2.0, 0.0),
    "reading": (0.0, 0.1, 2.0),
    "analysing": (0.0, 0.1, 2.0),
    "drafting": (0.0, 0.2, 2.0),
    "posting": (0.0, 0.25, 3.0),
    "frozen": (0.0, 0.0, 3.0),
    "lost message": (0.0, 0.1, 6.0),
    "sent": (0.0, 0.01, 3.0),
    "uploaded": (0.0, 0.05, 6.0),
    "dropped message": (0.0, 0.1, 6.0),
    "dropped file": (0.0, 0.1, 6.0),
    "late message": (0.0, 0.2, 6.0),
    "looking up": (0.0, 0.05, 7.0),
    "any time": (0.3, 4.0, 0.0),
}
_FAULTS = {
    "lost message": Fault(_POST, "drop"),
    # The answer is kept back, so that the kill comes between Slack's doing and its saying so.
    "posting": Fault(_POST, "stall", seconds=0.2),
    "dropped message": Fault(_POST, "accept_and_drop"),
    "dropped file": Fault(_FILE, "accept_and_drop"),
}
_ANY = 0.25  # of the kills hit any process, whatever it does
_PATIENCE = 300  # seconds
_LATE = 5.0  # seconds that Slack takes for a post, in which the bot is killed and up again
_LOOK_UPS = ("conversations.history", "conversations.replies", "files.info")


class Trial(NamedTuple):
    """How often which processes are killed, with `seed`, and how often the database's server is restarted meanwhile.

    With one process each kill is followed by a start; of several one is killed and started again while the others go on, or,
    `pauses` times, stopped until another has taken over, and then continued.
    """

    seed: int
    kills: int
    days: int = 2
    database_url: str = ""
    commands: Sequence[str] = ("run",)
    restart: Callable[[], None] = lambda: None
    restarts: int = 0
    pauses: int = 0
    timing: Timing = TIMING


class Delivered(NamedTuple):
    """How it ended. `wanted` and `posted` are the threads of each channel, `calls` the parts that the model was asked about."""

    deaths: Sequence[Death]
    wanted: dict[str, list[list[Posted]]]
    posted: dict[str, list[list[Posted]]]
    commits: int
    calls: Counter[int]
    flows: Counter[str]
    wrong: Sequence[str]
    restarts: Sequence[Sequence[int]] = ()  # the parts in flight at each restart of the database

    @property
    def expected(self) -> int:
        return sum(_counted(self.wanted).values())

    @property
    def duplicated(self) -> int:
        return sum((_counted(self.posted) - _counted(self.wanted)).values())

    @property
    def lost(self) -> int:
        return sum((_counted(self.wanted) - _counted(self.posted)).values())

    @property
    def paid_again(self) -> int:
        """How many calls were about commits that had been asked about, and that no kill or restart took back."""
        return sum(max(0, calls - 1 - self.in_flight[part]) for part, calls in self.calls.items())

    @property
    def in_flight(self) -> Counter[int]:
        """How many calls about each part a kill, or a restart of the database, may have taken back."""
        taken = [*(death.in_flight for death in self.deaths), *self.restarts]
        return Counter(part for parts in taken for part in parts)


def delivered(folder: Path, trial: Trial) -> Delivered:
    """Kills the bot so many times while it delivers, then lets it finish, and starts it once more when all is done."""
    random = Random(trial.seed)
    days, zone = _days(datetime.now(UTC), trial.days)
    commits = [commit for place, day in enumerate(days) for commit in _commits(day, zone, place * _A_DAY)]
    with killable(
        folder, commits, database_url=trial.database_url, commands=trial.commands, timing=trial.timing
    ) as bot:
        _subscribe(bot, days[0], zone)
        if len(trial.commands) > 1:
            # Of several that create the tables at once, some end if one is killed: that is tried with one process.
            bot.start_all()
            bot.wait_until_all_listen()
        interrupted = list(_interrupted(bot, random, trial))
        if len(trial.commands) == 1:
            _as_if_killed_often(bot)
        bot.slack.faults += [
            Fault(place, "accept_and_drop", where=_nth(random.randint(1, 3))) for place in (_POST, _FILE)
        ]
        bot.start_all()
        bot.wait_for(lambda: _is_done(bot, len(days)), _PATIENCE)
        bot.stop()
        bot.start_listening()  # and has nothing left to do
        bot.stop()
        return Delivered(
            bot.deaths,
            {
                channel: [_wanted(bot, day, zone, f"s{number}", channel) for day in days]
                for number, channel in enumerate(CHANNELS, 1)
            },
            {channel: bot.threads(channel) for channel in CHANNELS},
            len(commits),
            Counter(bot.chat.asked),
            bot.flows_ended(),
            _wrong(bot),
            interrupted,
        )


def _interrupted(bot: Killable, random: Random, trial: Trial) -> Iterator[Sequence[int]]:
    """Kill the processes, and restart the database's server; yield the parts that were in flight at each restart."""
    restarts, pauses = (set(random.sample(range(trial.kills), count)) for count in (trial.restarts, trial.pauses))
    for number, moment in enumerate(_moments(bot, random, trial.kills)):
        bot.start_all()
        if number in restarts:
            bot.wait_until_all_listen()  # one that starts just then ends, and tells why
            sleep(random.uniform(0, 2))
            stored = bot.analysed()
            trial.restart()
            yield bot.in_flight(stored)
        if number in pauses:
            bot.pause_at(moment, lambda: _victim(bot, random), lambda victim: _is_taken_over(bot, victim))
        else:
            bot.kill_at(moment, lambda: _victim(bot, random))


def _is_taken_over(bot: Killable, victim: int) -> bool:
    """Whether the others took a process for dead."""
    query = f"SELECT ended_at FROM executors WHERE pid = {bot.pid(victim)} ORDER BY started_at DESC LIMIT 1"
    return [ended is not None for (ended,) in bot.rows(query)] != [False]


def _victim(bot: Killable, random: Random) -> int:
    """The process that delivers, as far as that can be seen, or sometimes any."""
    running = sorted(bot.running())
    if len(running) == 1 or random.random() < _ANY:
        return random.choice(running)
    query = "SELECT executor_id FROM workflow_status WHERE status = 'PENDING' AND name = 'deliver'"
    pids = [int(each.split("-")[-2]) for (each,) in bot.rows(query, flows=True) if each.count("-") >= 2]
    found = [number for number in map(bot.number_of, pids) if number is not None]
    return random.choice(found or running)


def _days(now: datetime, days: int) -> tuple[list[date], ZoneInfo]:
    """So many days before today, in a zone where today does not end soon."""
    zone = ZoneInfo("UTC" if now.hour < 22 else "Asia/Shanghai")
    today = now.astimezone(zone).date()
    return [today - timedelta(days=back) for back in range(days, 0, -1)], zone


def _commits(day: date, zone: ZoneInfo, before: int) -> Iterator[dict[str, Any]]:
    """A day's commits; two of them remove what people may use, which is of high importance."""
    for number in range(before + 1, before + _A_DAY + 1):
        at = {"date": datetime.combine(day, time(number % _A_DAY + 9), zone).isoformat()}
        if number % 3:
            yield recorded(number, **at)
            continue
        gone = {"status": "modified", "additions": 30, "deletions": 1, "changes": 31}
        env = f'@@ -1,3 +1,2 @@\n ENVS = {{\n-    "ENGINE_PART_{number}": lambda: 1,\n }}'
        flag = f'@@ -10,3 +10,2 @@\n def add(parser):\n-    parser.add_argument("--part-{number}")\n     return parser'
        files = [{"filename": "engine/envs.py", "patch": env}, {"filename": "engine/core/scheduler.py", "patch": flag}]
        yield recorded(
            number,
            message=f"[Core][Scheduler] Remove the deprecated --part-{number} of part {number} (#{number})",
            files=[{**each, **gone} for each in files],
            **at,
        )


def _subscribe(bot: Killable, first: date, zone: ZoneInfo) -> None:
    """Both channels, since the day that is the first one due."""
    engine = open_engine(bot.database_url)
    since = datetime.combine(first, time(), zone).astimezone(UTC)
    for channel in CHANNELS:
        Subscriptions(engine).keep(Terms(channel, _REPOSITORY, time(), zone, "en"), since)
    engine.dispose()


def _as_if_killed_often(bot: Killable) -> None:
    """As if every flow had been interrupted a thousand times: the engine counts that, and may give up on one.

    On a slow machine the only kill may have come before there was any.
    """
    bot.change_flows("UPDATE workflow_status SET recovery_attempts = 1000")


# When it is killed


def _moments(bot: Killable, random: Random, kills: int) -> Iterator[Moment]:
    """Every stage of the first day, then whatever comes."""
    stages = ["start-up", "reading", "analysing", "analysing", "drafting"]
    while len(stages) < kills:
        stages += [stage for group in random.sample(_LATER, len(_LATER)) for stage in group]
    for stage in stages[:kills]:
        yield _moment(bot, random, stage)


def _moment(bot: Killable, random: Random, stage: str) -> Moment:
    slack = bot.slack
    if stage in _FAULTS:
        slack.faults.append(_FAULTS[stage])
    if stage == "late message":
        slack.late.append(_LATE)
    listening = more(lambda: slack.delivery.sockets.opened, 1)
    dropped = more(lambda: _met(bot, "accept_and_drop"), 1)
    states = {state: f"SELECT count(*) FROM outbox WHERE state = '{state}'" for state in ("ready", "sent")}

    def stored(state: str) -> int:
        return int(bot.rows(states[state])[0][0])

    comes: dict[str, Callable[[], bool]] = {
        "reading": more(lambda: len(bot.github.requests), random.randint(1, 6)),
        "analysing": more(lambda: len(bot.chat.asked), random.randint(1, 5)),
        "drafting": lambda: listening() and len(bot.analysed()) >= _A_DAY,
        "posting": more(lambda: _met(bot, "stall"), 1),
        "frozen": more(lambda: stored("ready"), 1),
        "sent": more(lambda: stored("sent"), 1),
        "lost message": more(lambda: _met(bot, "drop"), 1),
        "uploaded": more(lambda: len(slack.asked("files.getUploadURLExternal")), 1),
        "dropped message": dropped,
        "dropped file": dropped,
        "late message": more(lambda: slack.kept_back, 1),
        "looking up": more(lambda: sum(len(slack.asked(method)) for method in _LOOK_UPS), 1),
    }
    at_least, at_most, latest = _SECONDS[stage]
    return Moment(stage, comes.get(stage, lambda: True), random.uniform(at_least, at_most), latest)


def _met(bot: Killable, kind: str) -> int:
    return sum(call.fault == kind for call in bot.slack.calls)


def _nth(number: int) -> Callable[[Any], bool]:
    calls: list[object] = []

    def is_it(_: Any) -> bool:
        calls.append(None)
        return len(calls) == number

    return is_it


# What must have come of it


def _is_done(bot: Killable, days: int) -> bool:
    files = sum(each.key.endswith(".md") for channel in CHANNELS for thread in bot.threads(channel) for each in thread)
    return files >= days * len(CHANNELS) and bot.flows_ended().keys() <= {"SUCCESS", "ERROR"}


def _wanted(bot: Killable, day: date, zone: ZoneInfo, label: str, channel: str) -> list[Posted]:
    """The messages of a day by its stored report, and the report as a file."""
    store = Store(open_engine(bot.database_url))
    with (
        closing(store),
        closing(GitHub(bot.github.url, "token")) as github,
        closing(ChatModel(MODEL, base_url=bot.chat.url, api_key="key")) as model,
    ):
        services = Services(
            github, store, MeteredModel(model, store.spending, lambda: datetime.now(UTC), at_once=1, daily_usd=0.0)
        )
        report = services.digests.report(DayRef(_REPOSITORY, day, zone.key, "en"), datetime.now(UTC), ask=False)
    key = f"digest:{_REPOSITORY.key}:{day}:{label}:{channel}:"
    told = [Posted(f"{key}{place:03}", each.text) for place, each in enumerate(digest_messages(report))]
    return [*told, Posted(f"n-{day}.md", "")]


def _wrong(bot: Killable) -> list[str]:
    """What Slack refused or put up with, what was left undone, and errors in the log."""
    undone = bot.rows("SELECT key, state, note FROM outbox WHERE state != 'sent'")
    notes = bot.rows("SELECT channel, note FROM subscriptions WHERE note != ''")
    refused = [(call.method, call.response) for call in bot.slack.refusals]
    log = [line for line in bot.log_text.splitlines() if "Traceback" in line or "[error" in line]
    return [*map(str, [*undone, *notes, *refused]), *bot.slack.breaches, *log]


def _counted(threads: dict[str, list[list[Posted]]]) -> Counter[tuple[str, str]]:
    return Counter((channel, each.key) for channel, found in threads.items() for thread in found for each in thread)
