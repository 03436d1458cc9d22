"""Forks command lines from a process that has imported what they import; ends with its standard input.

It tells its address. Who connects sends the module, the arguments, the folder and the environment, then the three streams, and hears the
process's id and at last its exit code.
"""

import os
import runpy
import socket
import sys
from contextlib import suppress
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

_FORK = get_context("fork")


def main() -> None:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = Path(folder, "launcher")
        listener.bind(str(address))
        listener.listen()
        print(address, flush=True)
        import tests.servers.preloaded  # noqa: F401 (that it is imported is all)

        while sys.stdin not in select([listener, sys.stdin], [], [])[0]:
            with Connection(listener.accept()[0].detach()) as client:
                _FORK.Process(target=_watch, args=(client,)).start()
            active_children()  # takes leave of those that ended


def _watch(client: Connection) -> None:
    """Run what the client asks for, and tell it."""
    asked = client.recv()
    streams = [recv_handle(client) for _ in range(3)]
    process = _FORK.Process(target=_run, args=(*asked, streams))
    process.start()
    client.send(process.pid)
    for stream in streams:
        os.close(stream)
    process.join()
    with suppress(BrokenPipeError):  # who asked may be gone
        client.send(process.exitcode)


def _run(module: str, arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # As they are made for a new process: in the encoding of its environment, and the errors not kept back.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 (it is the process's)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["vllm-digest", *arguments]
    sys.orig_argv = [sys.executable, "-m", module, *arguments]  # with which it may start itself anew
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
