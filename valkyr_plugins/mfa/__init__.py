"""A second factor for users who sign in with a password: one-time codes of an authenticator app.

Read `codes` (pure), then `factors` (the only writer of rows), `progress` (the progress of a
session's sign-in), `middleware` (which pages it may open) and `recent` (pages that require a recent
sign-in).
"""
