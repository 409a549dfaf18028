"""The code of the pages on Python workflows, run as printed."""
