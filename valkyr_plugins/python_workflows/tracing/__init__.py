"""Convert a function to a document: handles, the graph under construction, and the document.

The package is pure: it uses neither Django nor a database. Calls that a graph cannot express raise
TracingError at once.
"""
