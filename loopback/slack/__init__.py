"""A Slack on 127.0.0.1 that is as strict as the real one, for trying the bot and for its tests.

    with LoopbackSlack() as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        app = App(client=client, signing_secret=slack.signing_secret)
        SocketModeHandler(app, slack.app_token, web_client=client).connect()
        ts = slack.say("U0ADA", "C0DIGEST", "<@U0BOT> help")
        slack.wait_for(lambda: len(slack.thread("C0DIGEST", ts)) > 1)
        asked = slack.command("U0ADA", "C0DIGEST", "status")
        print(asked.acked_after, slack.private("U0ADA", "C0DIGEST"))

There are the people U0ADA and U0LIN, the channel C0DIGEST where the bot is, and C0QUIET where it is not; `workspace` adds
others. An app that listens for HTTP is reached at `delivery.deliver_to`. `faults` makes requests fail; `refusals` and `breaches` say
what the app did wrong.
"""

from loopback.slack.delivery import Interaction
from loopback.slack.faults import Fault
from loopback.slack.limits import measure
from loopback.slack.server import Call, LoopbackSlack
from loopback.slack.workspace import Channel, File, Message, View, Workspace
