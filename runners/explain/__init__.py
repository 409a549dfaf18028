"""Explain why steps are not running: a reason for each live or dead run, and for each open task."""
