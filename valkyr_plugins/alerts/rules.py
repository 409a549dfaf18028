"""Create, change and delete alert rules, with audit entries. Only this module writes rules."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError

from executions.public.access import Actor, record
from executions.public.database import database_now, transaction, uuid7
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound, Taken, ValkyrError, WithProblems
from executions.public.labels import BadLabel, parsed
from executions.public.models import Workflow, Workspace
from executions.public.sealing import (
    KeyUnknown,
    Sealed,
    SealedColumn,
    place_of,
    register,
    seal,
    sealing,
    unseal,
)
from runners.public.modules import StepError
from valkyr_plugins.alerts.decisions import clipped
from valkyr_plugins.alerts.models import AlertChannel, AlertKind, AlertRule
from valkyr_plugins.connectors.mail.delivery import destination
from valkyr_plugins.connectors.network.request_parts import http_url

# The sealed column of a rule: a JSON object with the secret of its channel, bound to the row.


# The secret's field for each channel, named as in the module that sends to the channel.
SECRET_FIELDS: Mapping[str, str] = {
    AlertChannel.EMAIL: "url",
    AlertChannel.SLACK: "webhook_url",
    AlertChannel.WEBHOOK: "secret",
}

register(SealedColumn(AlertRule))


def sealed(rule_id: UUID, secret: str) -> Sealed:
    """Return the secret, which may be empty, sealed for the rule's row."""
    text = json.dumps({"secret": secret} if secret else {})
    return seal(text.encode(), place_of(AlertRule(pk=rule_id)))


def secret_of(rule: AlertRule) -> str:
    """Return the rule's secret; "" if it has none. Raises SealingError."""
    try:
        return _opened(rule)
    except KeyUnknown:
        # Another process resealed the secret since it was read, and the previous key is gone.
        rule.refresh_from_db(fields=["sealed", "key_id"])
        return _opened(rule)


def credential_of(rule: AlertRule) -> dict[str, str] | None:
    """Return the secret as a credential of the channel's module; None if there is no secret."""
    secret = secret_of(rule)
    return {SECRET_FIELDS[rule.channel]: secret} if secret else None


def _opened(rule: AlertRule) -> str:
    found: dict[str, str] = json.loads(unseal(rule.sealed, place_of(AlertRule(pk=rule.pk))))
    return found.get("secret", "")


# Check an alert rule: yield each problem with its path, without any query.
#
# Paths consist of the API's names.


MOST_RECIPIENTS = 20
SHORTEST_SECRET, LONGEST_SECRET = 16, 4_000
# For each field: its name in the API, its minimum and its maximum.
BOUNDS: dict[str, tuple[str, float, float]] = {
    "interval_seconds": ("intervalSeconds", 60, 7 * 86_400),
    "rate_factor": ("rateFactor", 1, 1_000),
    "rate_least": ("rateLeast", 1, 1_000_000),
    "oldest_hours": ("oldestHours", 0.1, 8_760),
    "waiting_seconds": ("waitingSeconds", 10, 86_400),
    "silent_seconds": ("silentSeconds", 20, 86_400),
}


def problems_of(rule: AlertRule, secret: str) -> list[DefinitionProblem]:
    """Return all problems of a rule whose channel has this secret."""
    return [*_of_words(rule), *_of_label(rule), *_of_numbers(rule), *_of_channel(rule, secret)]


def _of_words(rule: AlertRule) -> Iterator[DefinitionProblem]:
    name = rule.name.strip()
    if not name or len(rule.name) > 100 or clipped(rule.name, 200) != name:
        yield DefinitionProblem("name", "bad_name", "Give one line of 1 to 100 characters.")
    if not rule.kinds:
        yield DefinitionProblem("kinds", "required", "Name at least one kind of alert.")
    known = ", ".join(AlertKind.values)
    for kind in sorted(set(rule.kinds) - set(AlertKind.values)):
        yield DefinitionProblem(
            "kinds", "unknown", (f"{clipped(kind, 40)!r} is not one of: {known}.")
        )
    if len(set(rule.kinds)) < len(rule.kinds):
        yield DefinitionProblem("kinds", "twice", "Name each kind once.")


# The kinds that concern failures of executions. Only these can have a label.
LABELLED = (AlertKind.GROUP_NEW, AlertKind.GROUP_REGRESSED, AlertKind.ENTRY_OLD)


def _of_label(rule: AlertRule) -> Iterator[DefinitionProblem]:
    if not rule.label:
        return
    try:
        parsed(rule.label)
    except BadLabel as error:
        yield DefinitionProblem("label", "bad_label", str(error))
    if others := sorted(set(rule.kinds) - set(LABELLED)):
        message = (
            f"{clipped(others[0], 40)} is not about executions with a label. Use a label with "
            f"{', '.join(LABELLED)} only, and make another rule for other kinds."
        )
        yield DefinitionProblem("label", "unexpected", message)


def _of_numbers(rule: AlertRule) -> Iterator[DefinitionProblem]:
    for field, (path, least, most) in BOUNDS.items():
        value = getattr(rule, field)
        if not (math.isfinite(value) and least <= value <= most):
            message = f"Expected {least:g} to {most:,g}; found {value:g}."
            yield DefinitionProblem(path, "out_of_range", message)


def _of_channel(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    match rule.channel:
        case AlertChannel.EMAIL:
            yield from _of_mail(rule, secret)
        case AlertChannel.SLACK:
            if not secret or not _is_http(secret):
                what = "Give the incoming webhook's address: https://hooks.slack.com/services/…"
                yield DefinitionProblem("secret", "no_address", what)
        case AlertChannel.WEBHOOK:
            yield from _of_webhook(rule, secret)
        case _:
            known = ", ".join(AlertChannel.values)
            yield DefinitionProblem("channel", "unknown", f"Expected one of: {known}.")
    if rule.channel != AlertChannel.EMAIL and rule.recipients:
        yield DefinitionProblem("recipients", "unexpected", "Only e-mail has recipients.")
    if rule.channel != AlertChannel.WEBHOOK and rule.url:
        yield DefinitionProblem("url", "unexpected", "Only a webhook has an address here.")


def _of_mail(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    if not 1 <= len(rule.recipients) <= MOST_RECIPIENTS:
        found = len(rule.recipients)
        message = f"Expected 1 to {MOST_RECIPIENTS} addresses; found {found}."
        yield DefinitionProblem("recipients", "count", message)
    for address in rule.recipients[: MOST_RECIPIENTS + 1]:
        try:
            validate_email(address)
        except ValidationError:
            message = f"{clipped(address, 100)!r} is not an e-mail address such as ann@example.com."
            yield DefinitionProblem("recipients", "no_address", message)
    if secret:
        try:
            destination({"url": secret})
        except StepError as error:
            yield DefinitionProblem("secret", "no_server", error.message)


def _of_webhook(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    if not _is_http(rule.url) or urlsplit(rule.url).username is not None:
        what = "Expected an address that begins with https:// or http://, without user or password."
        yield DefinitionProblem("url", "no_address", what)
    if not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET:
        yield DefinitionProblem(
            "secret",
            "length",
            f"Expected a signing secret of {SHORTEST_SECRET} to {LONGEST_SECRET:,} characters; "
            f"found {len(secret):,}.",
        )


def _is_http(url: str) -> bool:
    try:
        return bool(url.isprintable() and len(url) <= 2_000 and http_url(url))
    except ValueError:
        return False


# The errors for users whose rule is invalid or whose test message did not arrive.


class AlertRuleRefused(WithProblems):
    """The values of the alert rule are invalid or contradictory."""

    code = "alert_rule_refused"


class AlertRuleExists(Taken):
    """An alert rule with this name already exists."""

    code = "alert_rule_exists"


class NotDelivered(ValkyrError):
    """The test message was not delivered."""

    code = "test_not_delivered"


FIELDS = (
    "name",
    "kinds",
    "about_id",
    "label",
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
    """Create a rule for a workspace or for the installation.

    `facts` contains values of `FIELDS`; omitted fields get the model's defaults. Raises
    AlertRuleRefused or AlertRuleExists.
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
                    "", "too_many", f"There are already {MOST} alert rules here, the maximum."
                )
            ]
        )
    return _write(rule, facts, secret, actor, "alert_rule.create", None)


def change_rule(
    rule_id: UUID, changes: Mapping[str, Any], *, secret: str | None = None, actor: Actor
) -> AlertRule:
    """Change the given fields; an omitted secret is kept unless the channel changes.

    An empty secret removes the current one. Raises NotFound, AlertRuleRefused or AlertRuleExists.
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
    """Delete a rule, with its alerts and messages. Raises NotFound."""
    with transaction.atomic():
        rule = _locked(rule_id)
        _audit(actor, "alert_rule.delete", rule, before=facts_of(rule), reason=reason)
        rule.delete()


def facts_of(rule: AlertRule) -> dict[str, Any]:
    """Return the rule's values for the audit trail: everything except the secret."""
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
            f"An alert rule {rule.name!r} already exists here. Change it, or choose another name."
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
        raise AlertRuleRefused("The alert rule is not valid.", problems)


def _audit(actor: Actor, action: str, rule: AlertRule, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=rule.workspace_id,
        object_type="AlertRule",
        object_id=rule.pk,
        **what,
    )
