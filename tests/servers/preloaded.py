"""What commands import and build at their start, once: a command that is run from here need not do so again."""

# ruff: noqa: F401 (that they are imported is all)
import gc

import analysis.llm
import analysis.questions.answering
import analysis.report.markdown
import analysis.report.terminal
import analysis.sources.pygithub
import analysis.sources.secrets
import analysis.writing.by_model
import bot.cli.app
import bot.cli.output
import bot.cli.progress
import bot.doctor
import bot.flows
import bot.local.workspace
import bot.mcp.server
import bot.metrics
import bot.publishing.publisher
import bot.scheduler
import bot.services.factory
import bot.services.impact
import bot.services.releases
import bot.services.suspects
import bot.slack.app
import bot.slack.http
from bot.store import open_engine

analysis.sources.secrets.Redactor()("a text")  # builds the scanners, in a third of a second and without a thread
open_engine("sqlite://").dispose()
for _template in ("day.md.j2", "days.md.j2", "entry.md.j2", "entry_short.md.j2"):
    analysis.report.markdown._report_environment().get_template(_template)  # each compiled in a twentieth of a second
gc.freeze()  # what is here stays, and need not be looked through by every command
