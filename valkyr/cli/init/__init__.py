"""`valkyr init`: edit the files of an existing Django project to add what it lacks.

Read `project` (what exists), `changes` (what is missing) and `source` (how a file is edited).
"""
