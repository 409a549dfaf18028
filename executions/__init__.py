"""Workflow definitions, triggers and permissions, and the admission and states of executions.

The rows in the database are the source of truth.
"""
