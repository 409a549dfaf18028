"""What runs in the process of its own that a step's code gets: it confines itself, then runs it.

Started without site-packages, environment or Django, so nothing here imports more than the
standard library. In order: `main` supervises and sets limits, `namespaces`, `landlock` and
`seccomp` take away, `program` runs the code.
"""
