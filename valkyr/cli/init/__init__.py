"""`valkyr init`: edit the files of an existing Django project to add what it lacks.

`project` finds what exists, `changes` plans what to add, and `source` edits a file.
"""
