"""Convert a document to Python source whose trace is an equal graph. The package is pure.

`python_source` is the entry point. Edges that follow from the order of the lines are omitted; all
others are written as `after=`. Templates that are paths, comparisons or arithmetic become handles;
other templates remain text.
"""
