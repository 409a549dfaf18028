"""Convert a function to a document, using handles and a graph under construction.

The package is pure: it uses neither Django nor a database. Calls that a graph cannot express raise
TracingError at once.
"""
