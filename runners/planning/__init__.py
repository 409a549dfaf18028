"""What follows once rows are written, decided from the rows: more work, a turn's end, or the end.

Read in this order: `plan_from_rows`, `finish`, `plan_execution`.
"""
