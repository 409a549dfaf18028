"""Workflows written in Python: `@workflow` traces a function once into the graph that runs.

`tracing/` records calls and makes the document, without Django. `constructs/` contains the
functions for a workflow: `when`, `each`, `approve` and the others. `source/` writes a document as
Python. The files beside these packages publish, start and check the traced workflows.
"""
