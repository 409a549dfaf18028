"""`make chaos`: faults of every kind on real processes, and an auditor that checks the results.

Each file in `tests/chaos/faults/` has one fault, or a few related ones. A fault looks like this:

    def _run(world: World) -> None:
        victim = world.fleet["default-1"]
        world.injected("kill -9 of default-1", victim.pid, *victim.children)
        victim.kill()
        ...
        world.recovered("step taken over", seconds)

    KILLED = Fault("worker-killed", "kill -9 of a worker", "re-dispatched in under 30 s", 30, _run)

It is named in `tests/chaos/faults/__init__.py`, in the order of the table in
docs/explanation/reliability.md.

When `run(world)` is called, servers and fleet are ready, and (unless the fault's `load.rate` is 0)
a load starts executions, which count for this fault. The fault injects, measures, and returns when
its promise can be judged. It raises AssertionError, with a sentence, if the promise is broken. It
leaves the servers running, nothing frozen, and no process of its own (`world.fleet.ensure()` is
called before the next fault, for members that it killed). The rest is done by the caller: it stops
the load, waits for everything that was accepted, audits the ledger, compares the recovery times
with `bound`, and writes the outcome into the report.

- `world.postgres`, `world.redis`: durable embedded servers, which can be stopped and launched again
  at the same addresses (`valkyr_project/embedded`). `world.broker`: the server that carries
  messages, with `stop()`, `start()` and `forget()` (tests/chaos/brokers.py), so that a fault of the
  broker works for every broker.
- `world.fleet`: the workers (tests/support/fleet.py): members `control`, `default-1`, `default-2`
  (prefork, two children each), `io`, `beat`. `fleet.worker(name, queue, pool, n, **environment)`
  adds one with its own environment (end it: `fleet.remove(name)`); `fleet.beat("beat-2")` adds a
  beat. `world.web`: the API's process, with `stop`, `kill` and `start`.
- `world.random`: seeded by (seed, slug). Draw the plan first, only from it (a pure function), so
  that the same seed gives the same plan.
- `world.load`: `accepted` (ids that were promised), `refused` (the API's answers other than 202,
  with counts), `slowest` (the longest answer, in seconds). The load calls `start_execution`
  directly, or over HTTP with `Load(api=True)`. `world.own(ids)` adds executions that a fault itself
  started to the audit.
- `world.injected(what, *pids)`: record that a fault was injected now, into these processes.
- `world.recovered(what, seconds)`: record that something recovered after this number of seconds.
- `world.excused()`: a block in which no process could have worked (servers down): it does not count
  executions as unattended.
- `world.wait_all_ended(seconds)`, `world.note(text)` (a line for the report),
  `world.figure(name, value)` (a number for the report).
- `world.kills`: the requested number of kills inside transactions (`--kills`).
- `world.quick`: short leases and few repetitions; `world.lease` is the lease in seconds.

`Fault.needs` names the requirements (tests/chaos/needs.py: `faketime`, `tmpfs`, `rabbitmq`,
`redis-broker`, `pgbouncer`): a fault that lacks one is reported as *not run*, with the reason and
the command that installs it. tests/chaos/places.py names faults with a context manager that gives a
folder, such as a small tmpfs. Such a fault runs in a separate process with its own servers, which
keep their data there.

All code here runs outside pytest: `python -m tests.chaos --only slug`. Models may be imported at
the top of fault files and of world.py (they are imported after Django was set up), but not in
options.py, stage.py, places.py and __main__.py.
"""
