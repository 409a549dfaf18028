"""From a document to Python source that traces back to an equal graph; pure.

`python_source` is the whole of it. Edges that the order of the lines says by itself are left to it;
all others are written as `after=`. Templates that are paths, comparisons or sums become handles;
the others stay as they are written.
"""
