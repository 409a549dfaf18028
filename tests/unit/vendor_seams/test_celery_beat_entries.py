"""django-celery-beat's scheduler: the names of the entries that it has not saved yet."""

import inspect

from celery import current_app
from django_celery_beat.schedulers import DatabaseScheduler

from executions.vendor_seams.celery_beat_entries import unsaved

SEE = "the scheduler has changed: see executions/vendor_seams/celery_beat_entries.py"


def test_nothing_is_unsaved_before_anything_was_sent() -> None:
    assert unsaved(DatabaseScheduler(current_app, lazy=True)) == set(), SEE


def test_the_name_of_an_entry_that_is_sent_is_noted() -> None:
    assert "self._dirty.add(new_entry.name)" in inspect.getsource(DatabaseScheduler.reserve), SEE
    assert "self._dirty.pop()" in inspect.getsource(DatabaseScheduler.sync), SEE
