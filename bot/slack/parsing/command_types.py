"""The commands that people can give, each a type with its values."""

from dataclasses import dataclass
from datetime import date

from analysis.models import Repository
from bot.models.reference import Reference
from bot.slack.parsing.subscription_options import SubscriptionOptions
from bot.store import AlertEvent

MOST_DAYS = 31  # in a range


@dataclass(frozen=True)
class Day:
    """Show a day's digest, for every configured repository if none is given.

    Where nobody named a day, a repository without commits on it shows its `latest` day that has some.
    """

    day: date
    repository: Repository | None = None
    latest: bool = False


@dataclass(frozen=True)
class Days:
    """Show the statistics of some days, oldest first."""

    days: tuple[date, ...]
    repository: Repository | None = None


@dataclass(frozen=True)
class Week:
    """Show the seven days from `first` on, of every configured repository if none is given."""

    first: date
    repository: Repository | None = None


@dataclass(frozen=True)
class Lookup:
    """Show a commit."""

    reference: Reference
    repository: Repository | None = None


@dataclass(frozen=True)
class SetAlert:
    """Tell the person once when a commit or a pull request is merged, reverted or released."""

    event: AlertEvent
    reference: Reference
    repository: Repository | None = None


@dataclass(frozen=True)
class ListAlerts:
    """List what the person will be told."""


@dataclass(frozen=True)
class Search:
    """Search for commits that contain all words."""

    words: str
    repository: Repository | None = None


@dataclass(frozen=True)
class Upgrade:
    """Show the changes between two versions: by default from the one that the downstream code pins, up to the head.

    `downstream` are the repositories to upgrade; by default those that the channel names.
    """

    start: str = ""
    end: str = ""
    repository: Repository | None = None
    downstream: tuple[Repository, ...] = ()


@dataclass(frozen=True)
class Suspects:
    """Show the commits that most likely caused a failure: a traceback, a log or a sentence, with its lines."""

    text: str
    repository: Repository | None = None


@dataclass(frozen=True)
class Ask:
    """Answer a question, given with the repository that it names.

    `about` is the value of its subject, or empty; a `quoted` question stands above its answer.
    """

    text: str
    about: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Help:
    """Show the available commands."""


@dataclass(frozen=True)
class NotUnderstood:
    """Unparsable input, with the nearest command that would work."""

    text: str
    nearest: str


@dataclass(frozen=True)
class Subscribe:
    """Subscribe the channel to a daily digest."""

    options: SubscriptionOptions


@dataclass(frozen=True)
class Unsubscribe:
    """Cancel a subscription of the channel: of one repository, or the only one if None."""

    repository: Repository | None = None


@dataclass(frozen=True)
class ListSubscriptions:
    """List the channel's subscriptions."""


@dataclass(frozen=True)
class Status:
    """Show the bot's status."""


Command = (
    Day
    | Days
    | Week
    | Lookup
    | SetAlert
    | ListAlerts
    | Search
    | Upgrade
    | Suspects
    | Ask
    | Help
    | NotUnderstood
    | Subscribe
    | Unsubscribe
    | ListSubscriptions
    | Status
)
