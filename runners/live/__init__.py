"""Queries of the hub of live states: an execution with its runs, or a workflow's executions."""
