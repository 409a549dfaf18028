"""The data that a worker has about an execution while the worker runs a segment.

`context` never changes, `template_data` contains what templates read, and `state` is the progress
of the pipeline. `work` contains the values that the pipeline's stages exchange.
"""
