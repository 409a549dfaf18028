"""Backtests: run a draft on the inputs and recorded results of past executions, without effects.

Read `records` (past executions, loaded in batches), `simulate` (one of them, computed again in
memory), `verdicts` and `groups` (the comparison, pure), `lifecycle` (the only writer of a
backtest's state), `working` (the batches of a worker).
"""
