"""Days and commits already posted in a channel: a later request gets a link, and a second post only on demand."""

from bot.models.subjects import CommitRef, Subject, kind_of, parse_value, subject_of
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.web import Web
from bot.store import Mailbox


class Postings:
    """The days and commits that channels already have."""

    def __init__(self, mailbox: Mailbox, web: Web, reports: ChannelReports) -> None:
        self._mailbox = mailbox
        self._web = web
        self._reports = reports

    def find_link(self, channel: str, ref: Subject) -> str:
        """Return the permalink of the latest message in a channel that shows a day or commit; empty if there is none.

        A commit in a digest's thread does not count: it is neither in the channel itself nor in a thread of its own.
        """
        begun = self._mailbox.begun(f"{kind_of(ref)}:{ref.repository.key}:{subject_of(ref)}:")
        shown = [each.ts for each in begun if each.channel == channel and self._is_same(parse_value(each.about), ref)]
        links = (self._web.directory.permalink(channel, ts) for ts in reversed(shown))
        return next((each for each in links if each), "")

    def _is_same(self, shown: Subject, ref: Subject) -> bool:
        """Return whether a post shows the requested subject: same language, and for days the same time zone, unfiltered."""
        if not isinstance(shown, CommitRef):
            same = not isinstance(ref, CommitRef) and shown.timezone == ref.timezone and self._reports.is_whole(shown)
        else:
            same = isinstance(ref, CommitRef)
        return (
            same
            and (kind_of(shown), subject_of(shown)) == (kind_of(ref), subject_of(ref))
            and (shown.repository.key, shown.language) == (ref.repository.key, ref.language)
        )
