"""What plugins may import of `dlq`. All else may change without notice.

- `beat`: when beat last ticked
- `dashboard`: add tables to the admin's home page
- `events`: the signals
- `metrics`: add readings for Prometheus
- `models`: the tables
- `resolving`: requeue dead letters, and say that groups are redriven
- `retention`: keep executions and dead letters, and delete rows of a plugin's own
- `selection`: choose dead letters by the API's filters
- `triage`: add to the pages of dead letters and failure groups
"""
