"""Modules that shape data: values, records, text, CSV, JSON, XML and HTML."""
