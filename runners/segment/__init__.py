"""A worker's knowledge of an execution while it runs one of its segments.

`context` never changes, `template_data` is what templates read, and `state` is the progress of the
pipeline. `work` holds the values that the pipeline passes on.
"""
