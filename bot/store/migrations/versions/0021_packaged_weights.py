"""Without the table of weights fitted to a repository: the packaged ones rank."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
readable_by = "0021"


def upgrade() -> None:
    op.drop_table("weights")
