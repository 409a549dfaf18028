"""Push live states of executions to viewers; nothing is read while there are no viewers.

A viewer (`viewer`) joins the hub of its event loop (`hub`), which reads changes (`feed`) for all
viewers at once and gives each viewer its frames (`frame`); `event_stream` sends them as server-sent
events.
"""
