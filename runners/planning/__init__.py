"""Decide from the rows how an execution continues: more work, an iteration's end, or its own end.

Read in this order: `plan_from_rows`, `finish`, `plan_execution`.
"""
