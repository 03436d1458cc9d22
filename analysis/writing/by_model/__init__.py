"""Texts by a model, checked before they are stored: a commit's analysis, those of a day's low commits, a translation, and the edit of a day."""

from analysis.writing.by_model.asking import Asker
from analysis.writing.by_model.commit import analyse
from analysis.writing.by_model.day_edit import EditedLine, edit
from analysis.writing.by_model.low_commits import AT_ONCE, analyse_low
from analysis.writing.by_model.replies import Analysed, AnalysisRequest
from analysis.writing.by_model.translation import translate
