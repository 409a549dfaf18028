"""Redrives: requeue dead letters in bulk at a set rate, each only once, despite crashes.

`lifecycle` freezes the chosen dead letters in a draft and changes a redrive's state; `preview`
shows its effects. The duty `driver` settles ended items, then sends as many items as `progress`
allows: many steps in one transaction, other items one by one. `hooks` answers the engine.
"""
