"""Every table has a policy, or says why its rows belong to no workspace.

A model with a foreign key to a workspace, or to a row that has one, gets its policy automatically.
A model without one names the column in `rows_belong_to`, or is listed here.
"""

import pytest
from django.apps import apps

from executions.database import statements
from executions.database.routing import is_ours
from executions.database.row_policies import policies, policy_of

INSTALLATION = "of the whole installation"
PERSON = "of one person, in whatever workspaces"
WORKERS = "what the engine keeps for itself"
NONE = {
    "dlq.BeatPulse": WORKERS,
    "dlq.RetentionMark": WORKERS,
    "dlq.SavedView": PERSON,
    "executions.AccountSession": PERSON,
    "executions.AuditSeal": "digests of all rows of the audit trail, of which none can be read",
    "executions.KeptAnswer": PERSON,
    "executions.Keyset": INSTALLATION,
    "executions.RateCount": "counters by digests",
    "executions.Tier": INSTALLATION,
    "executions.WorkspaceMove": INSTALLATION,
    "valkyr_circuits.CircuitRule": INSTALLATION,
    "valkyr_figures.CountedHour": WORKERS,
    "valkyr_mfa.Passkey": PERSON,
    "valkyr_mfa.RecoveryCode": PERSON,
    "valkyr_mfa.SecondFactor": PERSON,
}


def test_every_table_has_a_policy_or_says_why_not() -> None:
    stored = (one for one in apps.get_models() if is_ours(one) and not one._meta.proxy)
    without = {one._meta.label for one in stored if one._meta.managed and policy_of(one) is None}

    assert without == set(NONE)


def test_a_policy_asks_its_own_table_by_a_sub_select_that_is_computed_once() -> None:
    found = policies()

    assert len(found) > 30
    for one in found:
        assert f'"{one.table}".' in one.seen
        assert "ANY ((SELECT current_setting(" in one.seen or "(SELECT true FROM" in one.seen


@pytest.mark.parametrize("name", ["account_in_session", "account_in_scope"])
def test_a_statement_that_runs_in_any_scope_reads_no_table_with_a_policy(name: str) -> None:
    read = statements.statement(name)

    assert "executions_accountsession" in read
    assert not [one.table for one in policies() if one.table in read]
