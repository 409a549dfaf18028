"""The process that runs a step's code: it confines itself, then runs the code.

Started without site-packages, environment or Django, it imports only the standard library and, for
JavaScript, QuickJS. `main` supervises and sets limits; `namespaces`, `landlock` and `seccomp`
remove access; finally, `program` or `javascript` runs the code.
"""
