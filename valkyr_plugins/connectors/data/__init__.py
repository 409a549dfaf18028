"""Modules that transform data: values, records, text, CSV, JSON, XML and HTML."""
