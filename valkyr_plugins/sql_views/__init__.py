"""Read-only SQL views for BI tools, with rows filtered by role, and the command `valkyr_sql`.

`catalogue` defines the views and their columns, `installing` creates the schema, `granting` manages
login roles, and `asking` runs one statement with limits.
"""
