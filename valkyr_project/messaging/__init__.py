"""Celery in the stand-alone platform: its command line, beat's scheduler, and reports to Flower."""
