"""The ranks that were given, and how right they were by a release's notes."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# Earlier ranks are known from the analyses, without score and date: a model's is what readers saw if there is one.
_KEEP = """
INSERT INTO ranks (commit_id, importance)
SELECT commit_id, min(importance) FROM analyses WHERE {which}
AND commit_id NOT IN (SELECT commit_id FROM ranks) GROUP BY commit_id
"""


def upgrade() -> None:
    op.create_table(
        "ranks",
        sa.Column(
            "commit_id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            sa.ForeignKey("commits.id", name="fk_ranks_commit_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("importance", sa.String(6), nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("given_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "release_scores",
        sa.Column("repository", sa.String(300), primary_key=True),
        sa.Column("release", sa.String(300), primary_key=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("scored_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.execute(_KEEP.format(which="model != 'rules'"))
    op.execute(_KEEP.format(which="model = 'rules'"))
