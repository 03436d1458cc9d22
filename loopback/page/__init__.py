"""The page of the local workspace: a loopback Slack for people, in a browser on this machine.

    with LoopbackSlack() as slack, Page(slack, players, ...) as page:
        print(page.url)

It shows what one of the players sees and does what they do; everything is rendered here and escaped on the way.
"""

from loopback.page.player import Player
from loopback.page.server import Page

__all__ = ["Page", "Player"]
