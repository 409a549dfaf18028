"""A workspace's definitions as one bundle: export it, compare it with the workspace, apply it.

Read in this order: `kinds` (what a bundle holds besides workflows, registered by its owner),
`wording` (the difference of two definitions in words, pure), `workflows` (a workspace's workflows
against those of a bundle), `planning` (the comparison, with its fingerprint), `applying` (one
transaction), `exporting`. Folders and Git belong to the command line: `valkyr/cli/folder.py`.
"""
