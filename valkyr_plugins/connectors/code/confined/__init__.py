"""The process that runs a step's code: it confines itself, then runs the code.

Started without site-packages, environment or Django, it imports only the standard library. In
order: `main` supervises and sets limits, `namespaces`, `landlock` and `seccomp` remove access,
`program` runs the code.
"""
