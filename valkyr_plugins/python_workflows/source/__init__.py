"""Convert a document to Python source whose trace is an equal graph. The package is pure.

`python_source` is the entry point. If the order of the lines does not imply a task's edges, all
these edges are written as `after=`. Templates that are paths, comparisons or arithmetic become
handles; other templates remain text.
"""
