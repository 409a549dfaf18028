"""A workspace's definitions as one bundle: export, comparison with the workspace, and application.

Read in this order: `kinds` (the items in a bundle besides workflows), `wording` (the differences
between two definitions, in words), `workflows` (the comparison of workflows). Then read `planning`
(the whole comparison, with its fingerprint), `applying` (one transaction), and `exporting`. Folders
and Git belong to the command line: `valkyr/cli/folder.py`.
"""
