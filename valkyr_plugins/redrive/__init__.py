"""Redrives: dead letters requeued in bulk, at a rate; each once, despite crashes.

`making` freezes the chosen dead letters in a draft, `preview` says what the draft would do, and
`lifecycle` moves it. The duty `driving` settles what has ended (`settling`), then sends as many as
`pacing` allows: steps together in one transaction (`sending`), all else `one_by_one`. `hooks` has
what the engine asks.
"""
