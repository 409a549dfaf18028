"""`make soak`: everything at once for a long time, and a check that nothing grows that should
not.
"""
