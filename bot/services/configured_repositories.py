"""The configured repositories: their names, ranking weights and corrections."""

from collections.abc import Sequence

from analysis.errors import Misuse
from analysis.models import Repository
from bot.settings import Settings
from bot.store import Subscriptions


def choose_repositories(name: str | None, configured: Sequence[Repository]) -> list[Repository]:
    """Return all configured repositories, or the one called `name` (full or short). Raise `Misuse` if that is ambiguous or unknown."""
    if name is None:
        return list(configured)
    if "/" in name:
        parsed = Repository.parse(name)
        return [each for each in configured if each.key == parsed.key] or [parsed]
    short = [each for each in configured if name.lower() in (each.name.lower(), f"{each.name}@{each.branch}".lower())]
    if len(short) != 1:
        known = ", ".join(map(str, configured))
        raise Misuse(
            f"{name!r} matches {'several' if short else 'none'} of the configured repositories ({known}); use owner/name"
        )
    return short


def known_repositories(settings: Settings, subscriptions: Subscriptions) -> list[Repository]:
    """Return the configured and the subscribed repositories, each once."""
    subscribed = [each.terms.repository for each in subscriptions.all()]
    return list({each.key: each for each in (*settings.digest_repos, *subscribed)}.values())
