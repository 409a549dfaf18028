"""PostgreSQL beside the ORM: named statements, advisory locks, one clock."""
