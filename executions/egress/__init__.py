"""Egress rules: the hosts that steps of a workspace may connect to.

Read `rules` (no I/O), then `workspace_rules` (the rules of a workspace, cached for 5 s) and
`definition_check` (addresses that are written in a definition).
"""
