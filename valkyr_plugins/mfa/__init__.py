"""Second factors for users who sign in with a password: passkeys, and codes from an app.

Read `codes` (pure) and `webauthn` (the protocol of passkeys) first. Then read `factors` and
`passkeys` (the only writers of rows) and `progress` (the progress of a session's sign-in). Last,
read `middleware` (the pages that a session may open) and `recent` (the pages that require a recent
sign-in).
"""
