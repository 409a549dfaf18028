"""Redrives of failure groups follow merges, and the groups' pages work without redrives."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dlq.admin import additions, groups_page
from dlq.admin.groups import FailureGroupAdmin
from dlq.groups import merging
from executions.admin import links
from tests.support import admin_rows as rows
from tests.support.failures import fail
from tests.support.workflows import ACTOR
from valkyr_plugins.redrive.admin import many_groups

pytestmark = pytest.mark.django_db


@pytest.fixture
def op(client: Client, static_files: None) -> Client:
    """Return a superuser's client."""
    client.force_login(User.objects.create_superuser("op"))
    return client


def test_redrives_of_a_merged_group_are_the_other_ones() -> None:
    of = rows.workflow()
    kept, letter = fail(of).group, fail(of, "another kind")
    redrive = rows.redrive(letter, "DONE")
    assert letter.group_id != kept.pk

    merging.merge(kept.pk, [letter.group_id], actor=ACTOR)

    redrive.refresh_from_db()
    assert redrive.group_id == kept.pk


@pytest.mark.parametrize("there", [True, False])
def test_pages_of_groups_have_redrives_only_with_the_plugin(
    op: Client, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    letter = rows.failed_order(rows.workflow())
    letter.group.__class__.objects.update(open=1, total=1)
    rows.redrive(letter)
    if not there:
        monkeypatch.setattr(additions, "GROUP_LINKS", [])
        monkeypatch.setattr(additions, "GROUP_PROGRESS", [])
        own = [name for name in FailureGroupAdmin.actions if name != many_groups.ACTION]
        monkeypatch.setattr(FailureGroupAdmin, "actions", own)
        monkeypatch.setattr(groups_page, "GROUP_SECTIONS", [])

    page = op.get(links.page("dlq_failuregroup", letter.group_id)).content.decode()
    listed = op.get(links.listing("dlq_failuregroup")).content.decode()

    assert ("Redrive…" in page, "Redrive…" in listed) == (there, there)
    assert ('aria-label="Redrives"' in page) == there
    assert ("Open the redrive" in page) == there
    assert "Acknowledge…" in page
