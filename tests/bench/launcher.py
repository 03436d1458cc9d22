"""
Starts a command and prints its seconds and its peak memory in bytes, as JSON: `python -I -S launcher.py COMMAND...`.

A process begins with the peak of the one that started it. This one is small, so that the peak is the command's own.
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    # The command's standard output is thrown away, its standard error is ours.
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    began = time.perf_counter()
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - began
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    sys.stdout.write(json.dumps({"seconds": seconds, "peak": peak, "code": os.waitstatus_to_exitcode(status)}))
