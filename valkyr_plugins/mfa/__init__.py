"""Second factors for users who sign in with a password: passkeys, and codes of an app.

Read `codes` (pure) and `webauthn` (the protocol of passkeys), then `factors` and `passkeys` (the
only writers of rows), `progress` (the progress of a session's sign-in), `middleware` (which pages
it may open) and `recent` (pages that require a recent sign-in).
"""
