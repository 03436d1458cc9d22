"""What proved a commit's facts: its patch alone, as for all commits so far, or the whole files before and after it.

And where a day was read: through GitHub's API, as all days so far, or from a mirror.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("commits", sa.Column("facts_proof", sa.String(8), nullable=False, server_default="patch"))
    op.add_column("days", sa.Column("read_from", sa.String(24), nullable=False, server_default="api"))
