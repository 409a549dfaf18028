"""Copies of a failure: the request for curl, the call that requeues it, and a test that replays it.

Copies contain no secrets: likely secrets (by the names of their keys) and references to credentials
become placeholders that the user fills in.
"""
