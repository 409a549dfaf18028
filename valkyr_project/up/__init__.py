"""`make up`: everything a machine needs to run Valkyr, started, watched and stopped as one.

In the order of a start: `options` → `home` (lock) → `environment` → `prepare` → `processes` →
`supervisor` (with `failing_processes` and `output`); `run` calls them.
"""
