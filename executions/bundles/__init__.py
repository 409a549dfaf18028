"""A workspace's definitions as one bundle: export it, compare it with the workspace, apply it.

Read in this order: `kinds` (the items in a bundle besides workflows), `wording` (the difference of
two definitions in words, pure), `workflows` (a workspace's workflows against those of a bundle).
Then read `planning` (the comparison, with its fingerprint), `applying` (one transaction), and
`exporting`. Folders and Git belong to the command line: `valkyr/cli/folder.py`.
"""
