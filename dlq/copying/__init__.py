"""A failure to take along: its request as curl, the call that requeues it, a test that replays it.

Nothing here holds a secret: values under a secret's usual name, and references to credentials,
become names that whoever runs it fills in.
"""
