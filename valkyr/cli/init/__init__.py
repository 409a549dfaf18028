"""`valkyr init`: add what an existing Django project lacks by editing its files.

Read `project` (what exists), `changes` (what is missing) and `source` (how a file is edited).
"""
