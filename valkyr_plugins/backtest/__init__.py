"""Backtests: run a draft on the inputs and recorded results of past executions, without effects.

`records` loads past executions in batches, and `simulate` computes one of them again in memory.
`simulate` uses `recorded_calls` (calls that are made again), `computed_results` (the results so
far), `bodies` (loops and maps), and `comparison` and `verdicts` (the verdicts on steps). `groups`
groups equal differences, `lifecycle` alone writes a backtest's state, and `working` runs batches.
"""
