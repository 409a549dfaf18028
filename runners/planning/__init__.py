"""Decide from the rows what follows: more work, an iteration's end, or the execution's end.

Read in this order: `plan_from_rows`, `finish`, `plan_execution`.
"""
