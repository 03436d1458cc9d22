"""A crowd that types whatever comes to mind, all at once; and who of it was not answered."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal, NamedTuple

from analysis.questions.intent import reads_as_question
from bot.slack.parsing.input import plain
from loopback.slack import Interaction, LoopbackSlack
from loopback.slack.payloads import typed
from tests.servers.running import whole
from tests.servers.talk import LIN, Talk

SHA = "7bdf272b9"  # of the sample
WEB = "https://github.example/lantern/lantern-serve"
# What people type, what they mistype, and what Slack, databases and terminals have feelings about.
PIECES = (
    *("2026-02-05", "2026-2-5", "2026/13/45", "20260205", "2026-02-04..2026-02-05", "2026-02-05..2026-01-01", "2025-01-01..2026-02-05", "..", "...", "-3"),
    *("today", "Yesterday", "mon", "今天", "昨天", "tody", "2999-12-31", "1969-12-31", "0000-00-00", "-99999", "２０２６-02-05"),
    *("search", "搜索", "serach", "search kv connector", "search lantern", 'search "', "search *", "search NEAR(a b)", "help", "帮助", "hlep", "status", "subscribe"),
    *("lantern-serve", "lantern/lantern-serve", "o/small", "o/small@main", "o/nowhere", "o/secret", "a/b/c", "../..", "o/.git"),
    *(SHA, SHA.upper(), "35ee", "abcdef", "deadbeef", "0" * 40, "f" * 64, "#412", "#0", "#012", "412", "#99999999999", "#٣", "PR 412"),
    *(f"{WEB}/pull/412", f"{WEB}/commit/{SHA}#diff-0", "https://github.example/pull/5", "https://a.example/o/secret/pull/7", "http://[", "https://"),
    *("?", "does it break anything?", "这会影响 ROCm 吗？", "why", "what about #412?", "thanks!", "+1", "不兼容"),
    *("<!channel>", "<!here>", "<!subteam^S1>", "<@U0LIN>", "<#C0DIGEST|digest>", "<https://a.example|click>", "<mailto:a@b.c|a@b.c>", "&lt;&amp;", "&#0;", "<@U0BOT>"),
    *("`", "```", "*_~", ">", "|", "\\", "'", '"', "%s", "{}", "{0.__class__}", "${HOME}", "; DROP TABLE commits; --", "OR 1=1", "\x00", "\x07", "\x1b[31m"),
    *("\u202e", "\u200b", "\ufeff", "\u2028", "\ud800", "e\u0301" * 20, "👩‍👩‍👧‍👦", "ﷺ", "𝟚𝟘𝟚𝟞", "İ", "\r\n", "\t", "x" * 400, "字" * 300, "kv " * 200),
)  # fmt: skip

_PATIENCE = 120  # seconds

Kind = Literal["command", "mention", "direct", "thread"]
KINDS: tuple[Kind, ...] = ("command", "mention", "direct", "thread")
_WRONG = re.compile("Traceback|Exception|Something went wrong here|出错了")


class Said(NamedTuple):
    """What somebody says, and how; `raw` is passed on with Slack's tokens alive, as if picked from its menus."""

    kind: Kind
    text: str
    raw: bool = False


class _Asked(NamedTuple):
    """What was said as Slack passes it on; `by` is the command that was typed, or the message's ts."""

    said: Said
    text: str
    channel: str
    by: Interaction | str


class Crowd:
    """`count` people, each with a channel of their own, where a thread about a commit is open."""

    def __init__(self, talk: Talk, count: int) -> None:
        self._talk = talk
        self._slack: LoopbackSlack = talk.slack
        workspace = self._slack.workspace
        self._people = [workspace.add_user(f"person{number}") for number in range(count)]
        self._channels = {
            user: workspace.add_channel(user.lower(), members={"U0BOT", "U0LIN", user}) for user in self._people
        }
        self._threads = self._open_threads()
        self._turn = 0

    def says(self, everything: Sequence[Said]) -> list[str]:
        """Says everything at once, and tells what went wrong when all was dealt with."""
        refused, broken = len(self._slack.refusals), len(self._slack.breaches)
        seen = {id(message) for message in self._talk.everything()}
        asked = [self._say(each) for each in everything]
        commands = [each.by for each in asked if isinstance(each.by, Interaction)]
        self._slack.wait_for(lambda: all(each.responses or each.failed for each in commands), _PATIENCE)
        self._talk.settle(_PATIENCE)
        messages = list(self._talk.everything())
        runs = {part for each in messages if each.metadata for part in each.metadata["event_payload"]["key"].split(":")}
        wrong = [f"no answer to {each.said!r}" for each in asked if _is_due(each) and not _is_answered(each, runs)]
        wrong += [f"refused: {call.method} {call.response}" for call in self._slack.refusals[refused:]]
        wrong += self._slack.breaches[broken:]
        told = (whole(each) for each in messages if id(each) not in seen)
        return wrong + [text for text in told if _WRONG.search(text)]

    def _open_threads(self) -> dict[str, str]:
        """Person -> the ts of the commit that they have posted to their channel."""
        slack, channels = self._slack, self._channels
        self._talk.type(LIN, SHA)  # it is read once
        for user, channel in channels.items():
            slack.command(user, channel, SHA, wait=False)
        slack.wait_for(lambda: all(slack.private(user, channel) for user, channel in channels.items()), _PATIENCE)
        for user, channel in channels.items():
            slack.press(user, channel, slack.private(user, channel)[0].ts, "post_to_channel", wait=False)
        slack.wait_for(lambda: all(map(slack.channel, channels.values())), _PATIENCE)
        return {user: slack.channel(channel)[0].ts for user, channel in channels.items()}

    def _say(self, said: Said) -> _Asked:
        user = self._people[self._turn % len(self._people)]
        self._turn += 1
        channel, workspace = self._channels[user], self._slack.workspace
        if said.kind == "command":
            return _Asked(said, said.text, channel, self._slack.command(user, channel, said.text, wait=False))
        where = workspace.dm(user) if said.kind == "direct" else channel
        text = said.text if said.raw else typed(workspace, said.text)
        if said.kind == "mention":
            text = f"<@U0BOT> {text}"
        thread = self._threads[user] if said.kind == "thread" else None
        return _Asked(said, text, where, workspace.post(where, user, text=text, thread_ts=thread).ts)


def _is_due(asked: _Asked) -> bool:
    """Whether an answer is: in a thread only to a mention, or to a question that mentions nobody."""
    if asked.said.kind != "thread" or "<@U0BOT>" in asked.text:
        return True
    return reads_as_question(plain(asked.text)) and not re.search("<[@!]", asked.text)


def _is_answered(asked: _Asked, runs: set[str]) -> bool:
    if isinstance(asked.by, Interaction):
        return bool(asked.by.responses) and not asked.by.failed
    # Messages carry the run that they answer in the key of their metadata.
    return sha256(f"message:{asked.channel}:{asked.by}".encode()).hexdigest()[:8] in runs
