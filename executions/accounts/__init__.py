"""Workspaces, their members, and the credentials of programs; only this package writes them.

Each change is one transaction together with its line in the audit trail. Changes of a workspace's
permissions are made under the workspace's lock.
"""
