"""Copies of a failure: the request as a curl command, the call that requeues it, and a test.

Copies contain no secrets: likely secrets (by the names of their keys) and references to credentials
become placeholders that the user fills in.
"""
