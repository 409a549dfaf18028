"""The audit trail: its hash chain, its readers and its export.

`executions.access.actor` writes the rows.
"""
