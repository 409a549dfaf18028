"""Egress rules: the hosts that steps of a workspace may connect to.

Read `rules` (pure), then `workspace_rules` (which rules a workspace has, from a short cache) and
`definition_check` (addresses that are written in a definition).
"""
