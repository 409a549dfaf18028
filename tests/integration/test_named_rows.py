"""Accounts, tokens and workflows that a request names are the same rows as from the ORM."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Model
from django.utils import timezone

from executions.access import powers_on
from executions.accounts import tokens
from executions.accounts.authentication import account_in_session, token_of
from executions.accounts.errors import TokenRefused
from executions.accounts.sessions import SessionClient, begin
from executions.api.starting import startable
from executions.models import ApiToken, Membership, Workflow, Workspace
from executions.states import Permission, Role, SessionKind
from tests.support.workflows import default_workspace, publish, task

pytestmark = pytest.mark.django_db


@pytest.fixture(name="ada")
def _ada() -> Any:
    return get_user_model().objects.create_user(
        "ada", "ada@example.org", "pass-word", first_name="Ada", last_name="Lovelace",
        is_staff=True, last_login=timezone.now(),
    )  # fmt: skip


def same(found: Model, stored: Model, *but: str) -> bool:
    """Return whether two rows are equal, column by column, with no deferred fields."""
    names = {field.attname for field in stored._meta.concrete_fields} - set(but)
    assert not found._state.adding
    assert found._state.db == stored._state.db
    assert found.get_deferred_fields() == set(but)
    return all(getattr(found, name) == getattr(stored, name) for name in names)


def test_an_account_is_found_with_every_column(ada: Any) -> None:
    session = begin(ada, SessionKind.BROWSER, timedelta(hours=1), SessionClient())

    found = account_in_session(session.pk, str(ada.pk))

    assert type(found.user) is User
    assert same(found.user, User.objects.get(pk=ada.pk))
    assert found.last_used == session.last_used_at <= found.now
    for other in (ada.pk + 1, "not a key", None):
        with pytest.raises(TokenRefused):
            account_in_session(session.pk, other)


def test_a_token_is_found_with_its_user(ada: Any) -> None:
    text = tokens.make()
    kept = ApiToken.objects.create(
        workspace=default_workspace(), user=ada, name="ci", prefix=text[:12],
        scopes=["view", "trigger"],
        digest=tokens.digest(text), expires_at=timezone.now(), last_used_at=timezone.now(),
        last_used_from="2001:db8::7", created_by="root", revoked_at=timezone.now(),
    )  # fmt: skip

    found = token_of(kept.digest)

    assert found is not None
    token, now = found
    assert same(token, ApiToken.objects.get(pk=kept.pk))
    assert same(token.user, User.objects.get(pk=ada.pk))
    assert (now - kept.expires_at).total_seconds() > 0
    assert token_of(tokens.digest("another")) is None


@pytest.mark.parametrize("role", [None, *Role])
def test_a_workflow_is_found_with_what_somebody_is_there(ada: Any, role: Role | None) -> None:
    workflow = publish({"tasks": [task("only")]})
    others = Workspace.objects.create(name="Others", slug="others", tier=workflow.workspace.tier)
    Membership.objects.create(user=ada, workspace=others, role=Role.ADMIN)
    if role is not None:
        Membership.objects.create(
            user=ada, workspace=workflow.workspace, role=role, permissions=[Permission.REVEAL]
        )

    found, member = startable(workflow.pk, ada)

    assert found is not None
    assert same(
        found,
        Workflow.objects.get(pk=workflow.pk),
        "definition",
        "description",
        "origin",
        "origin_line",
    )
    expected = powers_on(ada, workflow.workspace_id, workflow.pk)
    assert powers_on(ada, workflow.workspace_id, workflow.pk, member=member) == expected
    assert expected.role == role


def test_an_archived_workflow_is_not_found(ada: Any) -> None:
    workflow = publish({"tasks": [task("only")]})
    Workflow.objects.update(archived_at=timezone.now())

    assert startable(workflow.pk, ada)[0] is None
