"""Circuit breakers: a target that keeps failing is left in peace for a while, then tried by one.

Decisions are pure (`breaker`, `memory`); the breakers are rows, changed by guarded statements. The
gate (`gate`) asks before a step's module runs and hears how it ended. Failures are counted by
workspace and target, so that one tenant's never rest another's.
"""
