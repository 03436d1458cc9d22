"""What commands import and build at their start, once: a command that is run from here need not do so again."""

# ruff: noqa: F401 (that they are imported is all)
import alembic.command
import alembic.context

import analysis.analyse
import analysis.answer
import analysis.llm
import analysis.report.markdown
import analysis.report.terminal
import analysis.secrets
import bot.cli
import bot.doctor
import bot.wiring

analysis.secrets.Redactor()("a text")  # builds the scanners, in a third of a second and without a thread
