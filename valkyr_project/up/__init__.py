"""`make up`: start, watch and stop everything that Valkyr needs on one machine.

The modules, in the order in which `run` uses them: `options` → `home` (lock) → `environment` →
`prepare` → `processes` → `supervisor` (with `failing_processes` and `output`).
"""
