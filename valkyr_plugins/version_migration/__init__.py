"""Move live executions of a workflow to another version: previewed, paced and resumable.

Read in this order: `models`, `plan`, `preview`, `lifecycle`, and `driver`.
"""
