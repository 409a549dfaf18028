"""A watchdog outside the process: ends a worker process in which no thread can run any more.

A step that holds Python's interpreter lock (C code, one huge comparison) stops every other thread
of its process, the one that renews leases included. `process.activity` publishes,
in memory shared with the watchdog, that the process runs and which run each thread executes;
`process.activity_slots` is the layout of that memory; `watchdog` looks at it, finds the thread to
blame and records the blame; `afterwards` does what follows from it; `keeper` starts the watchdog
beside a worker.
"""
