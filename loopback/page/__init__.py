"""The page of the local workspace: a loopback Slack for people, in a browser on this machine.

    with LoopbackSlack() as slack, Page(slack, players, ...) as page:
        print(page.url)

It shows one player's view and performs their actions; all HTML is rendered on the server and escaped.
"""

from loopback.page.player import Player
from loopback.page.server import Page
