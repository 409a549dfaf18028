"""Live states of executions, pushed to who watches; costs nothing while nobody does.

A viewer (`viewer`) joins the hub of its event loop (`hub`), which reads what changed (`feed`) for
all viewers at once and hands each its frames (`frame`); `event_stream` sends them as
server-sent events.
"""
