"""Open breaks of a channel's code, in words: whose it is, and until when it is put off; and the buttons for that."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby

from analysis.locale import Catalogue
from analysis.locale.punctuation import join_items
from analysis.models import SHORT_SHA
from bot.slack.messages.blocks import Action, Block, Piece, button, date_picker, ours, prose
from bot.store import DownstreamBreak

_NAMES = 5
_COMMITS = 10
_ACTION_ID = 255  # characters


def break_names(breaks: Sequence[DownstreamBreak], say: Catalogue) -> str:
    """Return the names of some breaks, as many as are read at a glance."""
    names = list(dict.fromkeys(f"`{each.name}`" for each in breaks))
    more = [say("and {count} more", count=len(names) - _NAMES)] if len(names) > _NAMES else []
    return join_items([*names[:_NAMES], *more], say)


def open_lines(breaks: Sequence[DownstreamBreak], today: date, say: Catalogue) -> list[list[Piece]]:
    """Return a heading and a line for each commit and downstream repository that has open breaks; nothing if none has."""
    if not breaks:
        return []
    rows = []
    by_commit = sorted(breaks, key=lambda each: (each.sha, each.downstream))
    for (sha, downstream), group in groupby(by_commit, lambda each: (each.sha, each.downstream)):
        found = list(group)
        row = prose(f"{found[0].repository} {sha[:SHORT_SHA]} → {downstream}{say(': ')}{break_names(found, say)}")
        for who in dict.fromkeys(each.who for each in found if each.who):
            row += [*ours(" · 🙋 "), {"type": "user", "user_id": who}]
        for day in sorted({each.until for each in found if each.until and each.is_put_off(today)}):
            row += ours(" · ⏰ " + say("put off until {day}", day=day))
        rows.append(row)
    left = len(rows) - _COMMITS
    more = [ours(say("and {count} more", count=left), "italic")] if left > 0 else []
    return [ours(say("💥 Open in your code: {count}", count=len(rows)), "bold"), *rows[:_COMMITS], *more]


def life_buttons(value: str, say: Catalogue) -> list[Block]:
    """Return what a person may do about what a commit, encoded as `value`, breaks."""
    put_off = f"{Action.PUT_OFF}|{value}"
    return [
        button(say("🙋 I take it"), Action.TAKE, value),
        *([date_picker(say("⏰ Put off until"), put_off)] if len(put_off) <= _ACTION_ID else []),
        button(say("🚫 No concern here"), Action.DISMISS, value),
    ]
