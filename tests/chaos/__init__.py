"""`make chaos`: faults of every kind on real processes, and an auditor of what came of it.

How a fault is written (one file a fault, or a few close ones, in `tests/chaos/faults/`):

    def _run(world: World) -> None:
        victim = world.fleet["default-1"]
        world.injected("kill -9 of default-1", victim.pid, *victim.children)
        victim.kill()
        ...
        world.recovered("step taken over", seconds)

    KILLED = Fault("worker-killed", "kill -9 of a worker", "re-dispatched in under 30 s", 30, _run)

and named in `tests/chaos/faults/__init__.py`, in the order of the table in
docs/explanation/reliability.md.

What a fault finds when `run(world)` is called: servers and fleet up and ready, and (unless the
fault's `load.rate` is 0) a load of executions being started, on this fault's account. It injects,
measures, and returns once its promise can be judged; it raises AssertionError, in words, where the
promise is broken. It leaves servers up again, nothing frozen and no process of its own behind
(`world.fleet.ensure()` is called before the next fault, for members it killed). What follows is
not its business: the load stops, everything accepted is waited for, the ledger is audited, the
recovery times are held against `bound`, and the outcome goes into the report.

- `world.postgres`, `world.redis`: embedded servers, durable, to be stopped and launched again at
  their addresses (`valkyr_project/embedded`). `world.broker`: what carries messages, with `stop()`,
  `start()` and `forget()` (tests/chaos/brokers.py), so that a fault of the broker is one for all.
- `world.fleet`: the workers (tests/support/fleet.py): members `control`, `default-1`, `default-2`
  (prefork, two children each), `io`, `beat`. `fleet.worker(name, queue, pool, n, **environment)`
  adds one with an environment of its own (end it: `fleet.remove(name)`); `fleet.beat("beat-2")`
  adds a beat. `world.web`: the API's process, `stop`, `kill`, `start`.
- `world.random`: seeded by (seed, slug). Draw the plan first, from it alone (a pure function), so
  that the same seed gives the same plan.
- `world.load`: `accepted` (ids that were promised), `refused` (what the API answered instead of
  202, with counts), `slowest` (seconds an answer took). Direct calls of `start_execution`, or over
  HTTP where `Load(api=True)`. `world.own(ids)` puts executions that a fault started by itself into
  the audit.
- `world.injected(what, *pids)`: a fault was done now, to these processes.
- `world.recovered(what, seconds)`: something that broke was whole again after so long.
- `world.excused()`: a block in which nobody could have worked (servers away): executions are not
  counted as unattended in it.
- `world.wait_all_ended(seconds)`, `world.note(text)` (a line for the report),
  `world.figure(name, value)` (a number for the report).
- `world.kills`: how many kills inside transactions were asked for (`--kills`).
- `world.quick`: short leases and few repetitions; `world.lease` is the lease in seconds.

`Fault.needs` names what must be there (tests/chaos/needs.py: `faketime`, `tmpfs`, `rabbitmq`,
`redis-broker`, `pgbouncer`): a fault that lacks it is reported as *not run*, with the reason and
the line that mends it. A fault named in tests/chaos/places.py, with a context manager that gives a
folder (a small tmpfs, say), runs in a process and a world of its own, whose servers keep their data
there.

All code here runs outside pytest: `python -m tests.chaos --only slug`. Models may be imported at
the top of fault files and of world.py (they are imported after Django was set up), not in
options.py, stage.py, places.py and __main__.py.
"""
