"""Alembic's entry: the connection comes from `migrations.apply`."""

from alembic import context

from registry.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transaction_per_migration=False
)
with context.begin_transaction():
    context.run_migrations()
