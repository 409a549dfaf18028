"""Egress rules: the hosts that steps of a workspace may connect to.

Read `rules` (no I/O), then `workspace_rules` (the rules of a workspace, from a short cache) and
`definition_check` (addresses that are written in a definition).
"""
