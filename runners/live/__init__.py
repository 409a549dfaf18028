"""Queries for the live states: an execution with its runs, or a workflow's executions."""
