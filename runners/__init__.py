"""Steps are claimed, run, fenced and recorded here; Celery carries the messages."""
