"""Redrives: requeue dead letters in bulk at a set rate, each only once, despite crashes.

`lifecycle` freezes the chosen dead letters in a draft and changes a redrive's state; `preview`
shows its effects. The duty `driver` settles ended items, then sends as many items as `progress`
allows: together in one transaction where possible, otherwise one by one. `hooks` answers the
engine's queries about redrives and handles its signals.
"""
