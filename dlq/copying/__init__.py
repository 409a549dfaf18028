"""Text to copy from a failure: the request as curl, the call that requeues the step, and a test.

Likely secrets (by the names of their keys) and references to credentials become placeholders that
the user fills in.
"""
