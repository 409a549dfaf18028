"""Read-only SQL views for BI tools, limited by workspace in PostgreSQL, and `valkyr_sql`.

Read `catalogue` (the views and their columns), `installing` (the schema, around `migrate`),
`granting` (login roles) and `asking` (one statement, run with limits).
"""
