"""The functions that a workflow may call besides steps: branches, bodies, waits, and variables.

Each is typed as the value that it represents, so that a type checker reads a workflow as an
ordinary function. Outside a trace, steps run; other calls that add tasks raise TracingError.
"""
