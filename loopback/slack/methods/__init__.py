"""The supported Web API methods and their scopes."""

from collections.abc import Callable
from typing import NamedTuple

from loopback.slack.methods import agents, chat, files, reading, views
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import Json


class Method(NamedTuple):
    """A method; the token needs one of `scopes`, if there are any. Those of `agents` exist only for apps that are agents."""

    run: Callable[[MethodCall], Json]
    scopes: tuple[str, ...] = ()
    agents: bool = False


_HISTORY = ("channels:history", "groups:history", "im:history")
_READ = ("channels:read", "groups:read", "im:read")

METHODS = {
    "auth.test": Method(reading.auth_test),
    "apps.connections.open": Method(reading.open_connection, ("connections:write",)),
    "bots.info": Method(reading.bot_info, ("users:read",)),
    "users.info": Method(reading.user_info, ("users:read",)),
    "chat.postMessage": Method(chat.post_message, ("chat:write",)),
    "chat.update": Method(chat.update, ("chat:write",)),
    "chat.delete": Method(chat.delete, ("chat:write",)),
    "chat.postEphemeral": Method(chat.post_ephemeral, ("chat:write",)),
    "chat.getPermalink": Method(chat.permalink),
    "chat.startStream": Method(chat.start_stream, ("chat:write",)),
    "chat.appendStream": Method(chat.append_stream, ("chat:write",)),
    "chat.stopStream": Method(chat.stop_stream, ("chat:write",)),
    "conversations.history": Method(reading.history, _HISTORY),
    "conversations.replies": Method(reading.replies, _HISTORY),
    "conversations.info": Method(reading.channel_info, _READ),
    "conversations.members": Method(reading.members, _READ),
    "conversations.open": Method(reading.open_conversation, ("im:write",)),
    "views.open": Method(views.open_view),
    "views.publish": Method(views.publish),
    "files.getUploadURLExternal": Method(files.upload_url, ("files:write",)),
    "files.completeUploadExternal": Method(files.complete, ("files:write",)),
    "files.info": Method(files.info, ("files:read",)),
    "agents.sessions.setStatus": Method(agents.set_status, ("chat:write",), agents=True),
    "assistant.threads.setSuggestedPrompts": Method(agents.set_suggested_prompts, ("assistant:write",), agents=True),
}

# The default scopes of a token: all methods and events.
ALL_SCOPES = frozenset(
    {scope for method in METHODS.values() for scope in method.scopes} - {"connections:write"}
    | {"app_mentions:read", "commands"}
)
