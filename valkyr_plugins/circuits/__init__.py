"""Circuit breakers: after repeated failures, calls to a target stop until a probe succeeds.

Decisions are pure (`breaker`); breakers are rows, changed under a lock and cached (`memory`). The
gate (`gate`) checks the circuit before a step's module runs, and is notified of the module's end.
Failures are counted per workspace and target, so one tenant's failures never affect another tenant.
"""
