"""Second factors for people who sign in with a password: passkeys, and codes of an app.

Read `codes` (pure) and `webauthn` (the protocol of passkeys), then `factors` and `passkeys` (the
only writers of rows), `progress` (how far a session's sign-in has come), `middleware` (what it may
open) and `recent` (pages that ask again).
"""
