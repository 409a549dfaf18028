"""Create, change and delete circuit rules, with an audit entry; rules as items of a bundle."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet

from executions.public.access import Actor, record
from executions.public.bundles import BundleContext, BundleKind, Item, ItemField, StoredItem
from executions.public.database import database_now, transaction
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound, Taken, WithProblems
from executions.public.models import Workspace
from valkyr_plugins.circuits.models import CircuitRule

COLUMNS = {
    "pattern": "pattern",
    "failureThreshold": "failure_threshold",
    "windowSeconds": "window_seconds",
    "recoverySeconds": "recovery_seconds",
    "timeoutSeconds": "timeout_seconds",
}
NUMBERS = ("failureThreshold", "windowSeconds", "recoverySeconds", "timeoutSeconds")


class CircuitRuleRefused(WithProblems):
    """The circuit rule is not valid."""

    code = "circuit_rule_refused"


class CircuitRuleExists(Taken):
    """A circuit rule with this pattern already exists."""

    code = "circuit_rule_exists"


def create_rule(item: Mapping[str, Any], *, actor: Actor) -> CircuitRule:
    """Create a rule from an item's fields. Raises CircuitRuleRefused or CircuitRuleExists."""
    _check(item)
    rule = CircuitRule(created_at=database_now(), **_columns(item))
    try:
        with transaction.atomic():
            rule.save(force_insert=True)
            _audit(actor, "create", rule, after=item_of(rule))
    except IntegrityError:
        raise CircuitRuleExists(
            f"A circuit rule {rule.pattern!r} already exists. Change that rule."
        ) from None
    return rule


def change_rule(rule_id: UUID, item: Mapping[str, Any], *, actor: Actor) -> None:
    """Replace a rule's values with the item's values. Raises CircuitRuleRefused or NotFound."""
    _check(item)
    with transaction.atomic():
        rule = _locked(rule_id)
        before = item_of(rule)
        for name, value in _columns(item).items():
            setattr(rule, name, value)
        rule.save()
        _audit(actor, "update", rule, before=before, after=item_of(rule))


def delete_rule(rule_id: UUID, *, actor: Actor) -> None:
    """Delete a rule. Raises NotFound."""
    with transaction.atomic():
        rule = _locked(rule_id)
        _audit(actor, "delete", rule, before=item_of(rule))
        rule.delete()


def item_of(rule: CircuitRule) -> Item:
    """Return a rule's values under the field names of a bundle's item."""
    return {name: getattr(rule, column) for name, column in COLUMNS.items()}


def _columns(item: Mapping[str, Any]) -> dict[str, Any]:
    return {column: item[name] for name, column in COLUMNS.items()}


def _check(item: Mapping[str, Any]) -> None:
    problems = [
        DefinitionProblem(name, "out_of_range", "Expected more than 0, or nothing.")
        for name in NUMBERS
        if item[name] is not None and item[name] <= 0
    ]
    if not item["pattern"].strip():
        problems.append(DefinitionProblem("pattern", "required", "Name a target or a pattern."))
    if problems:
        raise CircuitRuleRefused("The circuit rule is not valid.", problems)


def _locked(rule_id: UUID) -> CircuitRule:
    rule = CircuitRule.objects.select_for_update(no_key=True).filter(pk=rule_id).first()
    if rule is None:
        raise NotFound(f"There is no circuit rule {rule_id}.")
    return rule


def _audit(actor: Actor, verb: str, rule: CircuitRule, **what: Any) -> None:
    record(
        actor,
        f"circuit_rule.{verb}",
        workspace_id=None,
        object_type="CircuitRule",
        object_id=rule.pk,
        **what,
    )


class CircuitRuleItems(BundleKind):
    """The installation's circuit rules, identified by pattern."""

    name = "circuit-rules"
    needs = None
    keys = ("pattern",)
    fields = {
        "pattern": ItemField("text", most=300),
        "failureThreshold": ItemField("whole", None),
        "windowSeconds": ItemField("number", None),
        "recoverySeconds": ItemField("number", None),
        "timeoutSeconds": ItemField("number", None),
    }

    def rows(self, workspace: Workspace) -> QuerySet[CircuitRule]:
        """Return all rules of the installation."""
        return CircuitRule.objects.order_by("pattern")

    def create(self, context: BundleContext, item: Item) -> None:
        """Create a rule."""
        create_rule(item, actor=context.actor)

    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Change a rule's limits."""
        change_rule(row.id, item, actor=context.actor)

    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete a rule."""
        delete_rule(row.id, actor=context.actor)
