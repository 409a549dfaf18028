"""Rows are deleted in one statement, and counted."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.vendor_seams.django_deletion import delete_without_cascade

pytestmark = pytest.mark.django_db
SEE = "QuerySet._raw_delete has changed: see executions/vendor_seams/django_deletion.py"


def test_rows_are_deleted_by_one_statement_and_counted() -> None:
    Group.objects.bulk_create([Group(name="seam one"), Group(name="seam two")])

    with CaptureQueriesContext(connection) as asked:
        deleted = delete_without_cascade(Group.objects.filter(name__startswith="seam "))

    assert deleted == 2, SEE
    assert [query["sql"].split()[0] for query in asked] == ["DELETE"], SEE


def test_a_query_that_cannot_match_deletes_nothing() -> None:
    assert delete_without_cascade(Group.objects.filter(pk__in=[])) == 0, SEE
