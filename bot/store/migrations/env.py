"""Alembic's entry point: migrations run on the connection that `bot.store.database` passes, inside its transaction."""

from alembic import context

from bot.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
