"""Alembic asks for this file; `stores.sql.migrate` runs the revisions itself."""
