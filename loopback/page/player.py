"""Players of the page, their view of the workspace, and the page's own words in Chinese and English."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from loopback.slack.workspace import SLACKBOT, Channel, Workspace

Language = Literal["zh", "en"]

# Key -> in Chinese, in English.
_WORDS = {
    "workspace": ("本地工作区", "Local workspace"),
    "tagline": ("真正的机器人，不需要 Slack", "The real bot, no Slack needed"),
    "channels": ("频道", "Channels"),
    "apps": ("应用", "Apps"),
    "messages": ("消息", "Messages"),
    "home": ("主页", "Home"),
    "no_home": ("这个应用还没有发布主页。", "This app has not published a Home tab yet."),
    "empty": ("这里还没有消息。输入 / 试试命令。", "Nothing here yet. Type / to try a command."),
    "empty_direct": (
        "直接对我说话即可：命令不需要斜杠，也可以提问。",
        "Just write to me: commands need no slash here, and you can ask.",
    ),
    "play": ("你扮演", "You are"),
    "language": ("语言", "Language"),
    "theme": ("明暗", "Theme"),
    "light": ("浅色", "Light"),
    "dark": ("深色", "Dark"),
    "online": ("机器人在线", "The bot is online"),
    "offline": ("机器人未连接", "The bot is not connected"),
    "lost": ("页面与工作区失去联系，正在重连……", "The page lost the workspace; trying again …"),
    "ended": ("工作区已结束，请在终端重新运行 make run", "The workspace has ended; run make run again in the terminal"),
    "no_bot": ("机器人不在此频道", "The bot is not in this channel"),
    "members": ("{count} 位成员", "{count} members"),
    "member": ("1 位成员", "1 member"),
    "invites": ("把机器人加入此频道", "Adds the bot to this channel"),
    "invited": ("{name} 已在此频道", "{name} is in this channel already"),
    "invite_whom": ("这里只能邀请 @{name}", "Here you can invite only @{name}"),
    "joined": ("<@{bot}> 已加入频道，邀请人：<@{user}>", "<@{bot}> has joined the channel, invited by <@{user}>"),
    "back": ("返回", "Back"),
    "close": ("关闭", "Close"),
    "thread": ("讨论串", "Thread"),
    "replies": ("{count} 条回复", "{count} replies"),
    "reply": ("1 条回复", "1 reply"),
    "last_reply": ("最新回复", "Last reply"),
    "reply_in_thread": ("在讨论串中回复", "Reply in thread"),
    "only_you": ("仅你可见", "Only visible to you"),
    "app": ("应用", "App"),
    "edited": ("（已编辑）", "(edited)"),
    "open_file": ("打开文件 {name}", "Open the file {name}"),
    "download": ("下载", "Download"),
    "explain_commits": ("解释提交", "Explain commits"),
    "source": ("JSON", "JSON"),
    "source_of": ("查看这条消息的 JSON", "Show this message's JSON"),
    "copy": ("复制", "Copy"),
    "copied": ("已复制", "Copied"),
    "say_in": ("发消息到 {channel}，输入 / 使用命令", "Message {channel} or type /"),
    "say_thread": ("回复……", "Reply …"),
    "send": ("发送", "Send"),
    "suggestions": ("建议", "Suggestions"),
    "no_thread_commands": (
        "Slack 不允许在讨论串中使用斜杠命令；请在频道里输入，或直接提问",
        "Slack has no slash commands in threads; type it in the channel, or just ask",
    ),
    "unknown_command": ("{command} 不是可用的命令；试试 {known}", "{command} is not a command here; try {known}"),
    "no_answer": ("应用没有及时响应（{error}）", "The app did not answer in time ({error})"),
    "refused": ("这一步没有成功：{error}", "That did not work: {error}"),
    "choose": ("请选择", "Choose"),
    "more": ("更多操作", "More actions"),
    "cannot_show": ("这里无法显示的内容：{kind}", "Not shown here: {kind}"),
    "optional": ("（选填）", "(optional)"),
    "new_below": ("有新消息", "New messages"),
    "today": ("今天", "Today"),
    "yesterday": ("昨天", "Yesterday"),
    "skip": ("跳到消息", "Skip to the messages"),
    "skip_write": ("跳到输入框", "Skip to writing"),
    "list": ("会话列表", "Conversations"),
    "streaming": ("正在输入……", "writing …"),
    "working": ("{bot} 正在回答……", "{bot} is answering …"),
    "stop": ("停止", "Stop"),
    "prompts": ("可以这样问", "You could ask"),
}
_ZH, _EN = ({key: pair[place] for key, pair in _WORDS.items()} for place in (0, 1))


def words(language: str) -> Mapping[str, str]:
    """Key -> phrase; anything but zh is answered in English."""
    return _ZH if language == "zh" else _EN


class Player(NamedTuple):
    """A person whose role the page's user can take; `note` describes them in each language."""

    user: str
    note: Mapping[Language, str]


class Viewer(NamedTuple):
    """The workspace as one player sees it, in their language."""

    workspace: Workspace
    user: str
    language: Language

    def say(self, key: str, **values: object) -> str:
        """Return one of the page's phrases in the player's language."""
        return words(self.language)[key].format(**values)

    def name(self, user: str) -> str:
        """Return the display name of a person or the bot; an unknown id verbatim."""
        name = self.workspace.users.get(user, user)
        return name if user in {self.workspace.bot_user, SLACKBOT, name} else name.title()

    @property
    def channels(self) -> list[Channel]:
        """The conversations of which the player is a member."""
        return [each for each in self.workspace.channels.values() if self.user in each.members]

    def title(self, channel: Channel) -> str:
        """Return a conversation's name; for direct messages the bot's."""
        return self.name(self.workspace.bot_user) if channel.kind == "im" else channel.name

    def channel(self, channel: str) -> Channel | None:
        """Return a conversation of which the player is a member, or None."""
        return next((each for each in self.channels if each.id == channel), None)
