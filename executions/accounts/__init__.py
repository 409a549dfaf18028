"""Workspaces, members, service accounts, sessions and API tokens; only this package writes them.

Each change commits in one transaction with its row in the audit trail. Changes to the permissions
in a workspace lock the workspace.
"""
