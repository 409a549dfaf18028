"""Tests of backtests: a draft compared with the records of past executions."""
