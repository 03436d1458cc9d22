"""${message}"""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None
readable_by = None  # the oldest program that works with it; where this only adds, that of the migration before


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
