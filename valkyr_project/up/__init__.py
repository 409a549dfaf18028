"""`make up`: everything a machine needs to run Valkyr, started, watched and stopped as one.

In the order of a start: `options` → `home` (lock) → `ports` → `credentials` → `servers` →
`prepare` → `processes` → `supervisor` (with `readiness`, `restarts`, `failing` and
`output`) → `report`.
"""
