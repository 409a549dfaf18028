"""What a worker knows of an execution while it runs one of its segments.

`context` never changes, `template_data` is what templates read, and `state` is how far the pipeline
is. `work` holds the values that pass along the pipeline.
"""
