"""Explain the states of an execution and its steps.

There is a reason for each live or dead run, and for each task or undo step that has not started.
"""
