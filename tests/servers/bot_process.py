"""`run` or `worker` with times of its own: `python -m tests.servers.bot_process COMMAND RENEWAL SILENCE SWEEP`, in seconds."""

import sys
from datetime import timedelta

from bot.cli.process import run_bot
from bot.settings import Settings
from bot.slack.outbox import Pace
from bot.store.executors import Timing

PACE = Pace(timedelta(seconds=0.25), timedelta(seconds=0.015))  # a quarter of the time that Slack asks for
_TICK = timedelta(seconds=0.5)

if __name__ == "__main__":
    command, *seconds = sys.argv[1:]
    timing = Timing(*(timedelta(seconds=float(each)) for each in seconds))
    run_bot(Settings.load(), None, 0, listens=command == "run", timing=timing, pace=PACE, tick=_TICK)
