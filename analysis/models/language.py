"""The languages of reports and answers."""

from typing import Literal

Language = Literal["zh", "en"]
