"""Decide how an execution continues: with more work, the next iteration, or its end.

Read in this order: `plan_from_rows`, `finish`, and `plan_execution`.
"""
