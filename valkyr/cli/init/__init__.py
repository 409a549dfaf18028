"""`valkyr init`: what an existing Django project lacks, as edits of its files.

Read `project` (what is there), `changes` (what is missing), `source` (how a file is edited).
"""
