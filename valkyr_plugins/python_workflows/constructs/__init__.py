"""What a workflow's function may call beside its steps: branches, bodies, waits, variables.

Each is typed as the value that it stands for, so that a type checker reads a workflow as the
function it looks like. Outside of a trace all but steps raise TracingError.
"""
