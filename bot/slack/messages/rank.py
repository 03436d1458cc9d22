"""The message that explains a commit's rank: its signals with their points, and the score."""

from analysis.locale import catalogue
from analysis.models import Entry, Language
from analysis.writing.labels import BADGE, IMPORTANCE
from analysis.writing.reasons import reason_text
from bot.slack.messages.blocks import Message, bullets, context, fallback, linked, ours, paragraph, prose, rich

_MAX_SIGNALS = 12  # the strongest; further ones hardly move a score


def rank_message(entry: Entry, language: Language) -> Message:
    """Return why a commit has its tier: the signals, strongest first, and what they add to its score."""
    say, commit, ranked = catalogue(language), entry.commit, entry.ranked
    tier = f"{BADGE[ranked.importance]} {say(IMPORTANCE[ranked.importance])}"
    rows = [
        ours(f"{each.points:+.2f} ", "code") + prose(reason_text(each, language))
        for each in ranked.reasons[:_MAX_SIGNALS]
    ]
    title = ours(f"{tier} · ") + linked(commit.title or commit.short_sha, commit.url, "bold")
    score = say("Score {score}, the sum of these signals in log-odds", score=f"{ranked.score:+.2f}")
    return Message(
        fallback(f"{say('🧭 Why this rank')}{say(': ')}{commit.title or commit.short_sha}"),
        (rich(paragraph(title)), *([rich(bullets(rows))] if rows else []), context(score)),
    )
