"""The public modules of `dlq` for plugins. Everything else can change without notice.

- `beat`: the times at which beat last ran its duties
- `comparing`: compare a dead letter with the last successful run of its step
- `dashboard`: add cards, blocks and tables to the home page and to a workflow's figures
- `events`: the signals
- `metrics`: add values to the Prometheus metrics
- `models`: the tables
- `resolving`: requeue and discard dead letters, and mark groups as being redriven
- `retention`: protect executions and dead letters, and delete a plugin's own rows
- `selection`: select dead letters with the API's filters
- `triage`: add to the pages of dead letters and failure groups
"""
