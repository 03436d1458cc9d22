"""The command `doctor`: a check of everything that the settings name."""

from datetime import UTC, datetime

from analysis.errors import Misuse
from bot.cli import options


def doctor() -> None:
    """Check the settings. Tries every token, scope, channel, model and database, and says how to fix what fails."""
    from rich.text import Text

    from analysis.report.terminal import Line, print_line
    from analysis.text import one_line
    from bot.cli.output import standard_console
    from bot.doctor import findings

    console = standard_console()
    found = []
    for each in findings(lambda: datetime.now(UTC)):
        found.append(each)
        mark = ("✗", "red") if each.exit_code else ("✓", "green") if each.exit_code == 0 else ("–", "yellow")
        print_line(console, Line(Text(f"{each.name}: {one_line(each.message)}"), Text.assemble(mark, " ")))
    wrong = [each.exit_code for each in found if each.exit_code]
    if wrong:
        message = f"{len(wrong)} of {len(found)} checks failed; each line with ✗ says what to do"
        raise Misuse(message) if Misuse.exit_code in wrong else options.IncompleteResult(message)
