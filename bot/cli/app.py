"""The command line: its commands, and errors as an exit code and one line.

Exit codes: 0 done, 1 our bug, 2 usage or configuration, 3 an outside service failed and the result is incomplete,
4 what `--fail-on-break` asks for.
A reader that closes the pipe early, such as `head`, does not change them.
Heavy imports are local to the commands, so that `--help` is fast.
"""

import errno
import gc
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from analysis.errors import DigestError
from bot.cli import commands, process
from bot.cli.output import reopen

_INTERRUPTED = 130
# Objects more until cycles are looked for: what is imported has none that go, and to look there takes a tenth of a short command.
_ALLOCATIONS = 50_000

app = typer.Typer(
    name="vllm-digest",
    help="Reads a day's commits of busy GitHub repositories, says which matter and why.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _TextCommand(TyperCommand):
    """A command to which a day such as -3, or a question that begins with a flag, is no option: it gets a space before it, which parsers strip."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {each}" if _is_text(each) else each for each in args])


def _is_text(word: str) -> bool:
    """Return whether a word of a command line with a dash before it is no option: a number of days, or several words."""
    return word[:1] == "-" and (word[1:2].isdigit() or " " in word.partition("=")[0])


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"vllm-digest {installed('vllm-digest')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _command in (  # in the order in which `--help` lists them
    commands.digest,
    commands.week,
    commands.impact,
    commands.upgrade,
    commands.compat,
    commands.release,
    commands.publish,
    commands.commit,
    commands.ask,
    process.run,
    process.serve,
    process.worker,
    process.mcp,
    commands.backfill,
    commands.search,
    commands.suspects,
    commands.rank,
    commands.score,
    commands.move,
    commands.doctor,
):
    app.command(cls=_TextCommand)(_command)


def execute(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Errors are one line on standard error; our own bugs add a traceback."""
    try:
        result = app(args=list(arguments), prog_name="vllm-digest", standalone_mode=False)
        sys.stdout.flush()
    except DigestError as exc:
        return _print_error(str(exc), exc.exit_code)
    except typer.TyperException as exc:
        return _print_error(_usage_error(exc), 2)
    except (KeyboardInterrupt, typer.Abort):
        result = _INTERRUPTED
    except Exception as exc:  # noqa: BLE001 (the outermost handler: one traceback and a message)
        if isinstance(exc, OSError) and exc.errno == errno.ENOSPC:
            sys.stdout = open("/dev/null", "w", encoding="utf-8")  # noqa: SIM115, PTH123 (discard the buffer)
            return _print_error("standard output cannot be written: no space is left on the device", 2)
        from bot.logs import traceback_of

        sys.stderr.write(f"{traceback_of(exc)}\n")
        return _print_error("this is a bug in vllm-digest; please report it with the lines above", 1)
    if result == _INTERRUPTED:  # also what typer makes of Ctrl-C in a command
        return _print_error("interrupted; run it again to continue", _INTERRUPTED)
    return 2 if result else 0  # typer's own exit: there is no completion for the shell


def _usage_error(error: typer.TyperException) -> str:
    """Return what is wrong with a command line, with what was meant or may be used, or else where to look it up."""
    from pydantic import ValidationError

    from bot.settings import reason

    if isinstance(error, typer.BadParameter) and error.param and isinstance(error.__cause__, ValidationError):
        wrong, choices = error.__cause__.errors()[0], error.param.type_descriptor.choices
        words = f"{wrong['input']!r} is not supported; use {' or '.join(', '.join(choices or ()).rsplit(', ', 1))}"
        return f"{error.param.opts[0]}: {words if choices else reason(wrong)}"
    words = error.format_message().rstrip(".")
    if words.startswith("No such option") and not words.endswith("?"):
        words += "; write -- before words that begin with a dash"
    return words if words.endswith("?") else f"{words}; see vllm-digest --help"


def _print_error(message: str, code: int) -> int:
    from analysis.text import one_line

    sys.stderr.write(f"vllm-digest: {one_line(message)}\n")
    return code


def main() -> None:
    """Entry point of the command `vllm-digest`."""
    from bot import logs

    # A stream that the parent process closed is None.
    sys.stdin = sys.stdin or open("/dev/null", encoding="utf-8")  # noqa: SIM115, PTH123
    sys.stdout, sys.stderr = reopen(sys.stdout), reopen(sys.stderr)
    logs.take_over()
    gc.set_threshold(_ALLOCATIONS)
    sys.exit(execute(sys.argv[1:]))
