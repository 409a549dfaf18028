"""The form of an alert rule says why it finds no workflow, and what an empty secret means."""

from typing import Any

import pytest

from tests.support import admin_rows as rows
from tests.support.alerts import rule
from valkyr_plugins.alerts.admin.alert_rules import AlertRuleForm

pytestmark = pytest.mark.django_db
KEEPS = "If you do not change the channel, leave empty to keep the current secret."
INSTALLATION = "For e-mail, leave empty to use the installation's mail server."


def wrong(**given: Any) -> Any:
    """Return the errors of the field of the workflow, for a new rule."""
    data = {"name": "On call", "channel": "EMAIL", "workflow_slug": "nothing", **given}
    return AlertRuleForm(data=data).errors["workflow_slug"]


def test_a_rule_of_the_installation_has_no_workflow() -> None:
    assert wrong() == ["A rule for the whole installation cannot be limited to one workflow."]


def test_a_workflow_is_looked_for_in_the_workspace() -> None:
    assert wrong(workspace=rows.workspace().pk) == ["The workspace has no such workflow."]


def test_only_a_stored_secret_can_be_kept() -> None:
    stored = rule()

    kept = str(AlertRuleForm(instance=stored).fields["secret"].help_text)
    new = str(AlertRuleForm().fields["secret"].help_text)

    assert kept.endswith(KEEPS)
    assert INSTALLATION not in kept
    assert new.endswith(INSTALLATION)
