"""A watchdog in a separate process ends worker processes whose threads can no longer run.

A step that holds Python's interpreter lock (C code, one huge comparison) stops every other thread
of its process, including the thread that renews leases. `process.activity` publishes, in memory
shared with the watchdog, that the process is running and which run each thread executes.
`process.activity_slots` is the layout of that memory. `watchdog` reads it, finds the thread that
caused the stall and blames its run. `afterwards` handles the consequences. `keeper` starts the
watchdog beside a worker.
"""
