"""Convert a function to a document: handles, the graph under construction, and the output.

Pure: no Django, no database. Calls that a graph cannot express raise TracingError at once.
"""
