"""A second factor for people who sign in with a password: one-time codes of an authenticator app.

Read `codes` (pure), then `factors` (the only writer of rows), `progress` (how far a
session's sign-in has come), `middleware` (what it may open) and `recent` (pages that ask again).
"""
