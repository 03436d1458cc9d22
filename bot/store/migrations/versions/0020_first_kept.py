"""The first schema whose stores are kept. A new store gets today's tables at once, without migrations (`bot.store.database`)."""

revision = "0020"
down_revision = None
branch_labels = None
depends_on = None
readable_by = "0020"


def upgrade() -> None:
    """Do nothing: whoever has this schema has its tables."""
