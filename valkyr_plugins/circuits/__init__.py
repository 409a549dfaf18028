"""Circuit breakers: after repeated failures, calls of a target stop, until a probe succeeds.

Decisions are pure (`breaker`, `memory`); the breakers are rows, changed by guarded statements. The
gate (`gate`) asks before a step's module runs and is notified of its end. Failures are counted by
workspace and target, so that one tenant's failures never affect another tenant.
"""
