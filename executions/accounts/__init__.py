"""The operations on workspaces, members, service accounts, sessions and API tokens.

Each change by a user commits in one transaction with its row in the audit trail. A user's change to
an existing membership or service account locks the workspace.
"""
