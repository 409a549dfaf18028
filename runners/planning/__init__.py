"""Decide the continuation from the rows: more work, an iteration's end, or the execution's end.

Read in this order: `plan_from_rows`, `finish`, `plan_execution`.
"""
