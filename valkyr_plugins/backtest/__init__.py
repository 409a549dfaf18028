"""Backtests: run a draft on the inputs and recorded results of past executions, without effects.

Read `records` (past executions, loaded in batches) and `simulate` (one of them, computed again in
memory). The parts of `simulate` are `recorded_calls` (calls that are made again),
`computed_results` (the results so far), `bodies` (loops and maps) and `comparison` (verdicts, by
`verdicts`). Then read `groups` (equal differences of many executions), `lifecycle` (the only writer
of a backtest's state) and `working` (the batches of a worker).
"""
