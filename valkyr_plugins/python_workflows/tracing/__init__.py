"""From a function to a document: handles, the graph under construction, and what it is written as.

Pure: no Django, no database. Calls that a graph cannot hold raise TracingError at once.
"""
