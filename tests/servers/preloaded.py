"""What commands import, imported once: a command that is run from here need not do so again."""

# ruff: noqa: F401 (that they are imported is all)
import alembic.command
import alembic.context

import analysis.analyse
import analysis.answer
import analysis.llm
import analysis.report.markdown
import analysis.report.terminal
import bot.cli
import bot.doctor
import bot.wiring
