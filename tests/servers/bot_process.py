"""`run` or `worker` with a timing of its own: `python -m tests.servers.bot_process COMMAND RENEWAL SILENCE SWEEP`, in seconds."""

import sys
from datetime import timedelta

from bot.cli.process import run_bot
from bot.settings import Settings
from bot.store.executors import Timing

if __name__ == "__main__":
    command, *seconds = sys.argv[1:]
    timing = Timing(*(timedelta(seconds=float(each)) for each in seconds))
    run_bot(Settings.load(), None, 0, listens=command == "run", timing=timing)
