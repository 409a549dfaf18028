"""Workspaces, members, service accounts, sessions and API tokens; only this package writes them.

Each change by a user commits in one transaction with its row in the audit trail. A user's change to
an existing membership or service account locks the workspace.
"""
