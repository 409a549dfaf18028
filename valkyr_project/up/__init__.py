"""`make up`: start, watch and stop everything that Valkyr needs on a machine.

In the order of the start: `options` → `home` (lock) → `environment` → `prepare` → `processes` →
`supervisor` (with `failing_processes` and `output`); `run` calls them.
"""
