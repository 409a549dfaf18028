"""Workspaces, who is in them, and what programs sign in with; the only writers of those rows.

Each change is one transaction together with its line in the audit trail. What concerns who may do
what in a workspace is decided under the workspace's lock.
"""
