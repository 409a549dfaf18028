"""Push live states of executions to viewers; nothing is read while there are no viewers.

A viewer (`viewer`) joins the hub of its event loop (`hub`), which reads changes (`feed`) for all
viewers at once and gives each viewer its frames; `event_stream` sends the frames as server-sent
events.
"""
