"""Redrives: dead letters requeued in bulk, at a rate; each once, despite crashes.

`lifecycle` freezes the chosen dead letters in a draft and moves it; `preview` says what the draft
would do. The duty `driver` settles what has ended, then sends (`sending`) as many as `progress`
allows: steps together in one transaction, all else one by one. `hooks` has what the engine asks.
"""
