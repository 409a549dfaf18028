"""Making, changing and taking away alert rules: the only writer of them, each time audited."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from uuid6 import uuid7

from executions.public.access import Actor, record
from executions.public.database import database_now
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound
from executions.public.models import Workflow, Workspace
from executions.public.sealing import sealing
from valkyr_plugins.alerts.checking import problems_of
from valkyr_plugins.alerts.errors import AlertRuleExists, AlertRuleRefused
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.alerts.secrets import sealed, secret_of

FIELDS = (
    "name",
    "kinds",
    "about_id",
    "channel",
    "recipients",
    "url",
    "interval_seconds",
    "rate_factor",
    "rate_least",
    "oldest_hours",
    "waiting_seconds",
    "silent_seconds",
    "enabled",
)
MOST = 100


def create_rule(
    workspace: Workspace | None, facts: Mapping[str, Any], *, secret: str = "", actor: Actor
) -> AlertRule:
    """A new rule of a workspace, or of the installation; raises AlertRuleRefused, AlertRuleExists.

    `facts` are those of `FIELDS`; what is left out is as the model says.
    """
    sealing.prepare()
    now = database_now()
    rule = AlertRule(
        id=uuid7(), workspace=workspace, created_by=actor.name[:200], created_at=now, updated_at=now
    )
    if AlertRule.objects.filter(workspace=workspace).count() >= MOST:
        _refuse(
            [
                DefinitionProblem(
                    "", "too_many", f"There are {MOST} alert rules here, the most there are."
                )
            ]
        )
    return _write(rule, facts, secret, actor, "alert_rule.create", None)


def change_rule(
    rule_id: UUID, changes: Mapping[str, Any], *, secret: str | None = None, actor: Actor
) -> AlertRule:
    """Change what is given; the secret stays where none is given, unless the channel is another.

    An empty secret takes it away. Raises NotFound, AlertRuleRefused, AlertRuleExists.
    """
    sealing.prepare()
    with transaction.atomic():
        rule = _locked(rule_id)
        before = facts_of(rule)
        if secret is None:
            same = changes.get("channel", rule.channel) == rule.channel
            secret = secret_of(rule) if same else ""
        return _write(rule, changes, secret, actor, "alert_rule.update", before)


def delete_rule(rule_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Take a rule away, with its alerts and what it sent; raises NotFound."""
    with transaction.atomic():
        rule = _locked(rule_id)
        _audit(actor, "alert_rule.delete", rule, before=facts_of(rule), reason=reason)
        rule.delete()


def facts_of(rule: AlertRule) -> dict[str, Any]:
    """What the audit trail says of it: everything but the secret."""
    facts = {name: getattr(rule, name) for name in FIELDS}
    about_id = facts.pop("about_id")
    return facts | {
        "about_id": None if about_id is None else str(about_id),
        "has_secret": rule.has_secret,
    }


def _write(
    rule: AlertRule,
    facts: Mapping[str, Any],
    secret: str,
    actor: Actor,
    action: str,
    before: dict[str, Any] | None,
) -> AlertRule:
    for name in FIELDS:
        if name in facts:
            setattr(rule, name, facts[name])
    found = problems_of(rule, secret)
    if rule.about_id is not None and not _is_own_workflow(rule, rule.about_id):
        found.append(
            DefinitionProblem(
                "workflowId", "unknown", "There is no such workflow in the workspace."
            )
        )
    _refuse(found)
    rule.has_secret = bool(secret)
    rule.updated_at = database_now()
    try:
        with transaction.atomic():
            closed = sealed(rule.pk, secret)
            rule.sealed, rule.key_id = closed.value, closed.key_id
            rule.save(force_insert=before is None)
            _audit(actor, action, rule, before=before, after=facts_of(rule))
    except IntegrityError:
        raise AlertRuleExists(
            f"There is an alert rule {rule.name!r} here already. Change that one, or choose "
            "another name."
        ) from None
    return rule


def _is_own_workflow(rule: AlertRule, workflow_id: UUID) -> bool:
    rows = Workflow.objects.filter(pk=workflow_id)
    if rule.workspace_id is not None:
        rows = rows.filter(workspace_id=rule.workspace_id)
    return rows.exists()


def _locked(rule_id: UUID) -> AlertRule:
    rows = AlertRule.objects.select_for_update(no_key=True, of=("self",))
    rule = rows.select_related("workspace", "about").filter(pk=rule_id).first()
    if rule is None:
        raise NotFound(f"There is no alert rule {rule_id}.")
    return rule


def _refuse(problems: list[DefinitionProblem]) -> None:
    if problems:
        raise AlertRuleRefused("The alert rule cannot be as asked.", problems)


def _audit(actor: Actor, action: str, rule: AlertRule, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=rule.workspace_id,
        object_type="AlertRule",
        object_id=rule.pk,
        **what,
    )
