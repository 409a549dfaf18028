"""Alert rules as items of a bundle; an item names the credential with the rule's secret."""

from typing import Any

from django.db.models import QuerySet

from executions.public.bundles import BundleContext, BundleKind, Item, ItemField, StoredItem
from executions.public.credentials import credential_values
from executions.public.definitions import DefinitionProblem
from executions.public.models import Permission, Workspace
from executions.public.sealing import sealing
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.alerts.rules import (
    SECRET_FIELDS,
    AlertRuleRefused,
    change_rule,
    create_rule,
    delete_rule,
    secret_of,
)


def _default(column: str) -> Any:
    return getattr(AlertRule(), column)


class AlertRuleItems(BundleKind):
    """A workspace's alert rules, identified by name.

    `credential` names a credential of the workspace, from which the rule copies its secret. A plan
    shows whether the credential's secret differs from the rule's.
    """

    name = "alert-rules"
    needs = Permission.CONFIGURE
    keys = ("name",)
    most = 100
    fields = {
        "name": ItemField("text", most=100),
        "kinds": ItemField("texts", most=50),
        "workflow": ItemField("text", None, column=False, most=80),
        "channel": ItemField("text", most=20),
        "recipients": ItemField("texts", default=[], most=100),
        "url": ItemField("text", default="", most=2_000),
        "label": ItemField("text", default="", most=241),
        "credential": ItemField("text", None, compared=False, column=False, most=80),
        "intervalSeconds": ItemField("whole", _default("interval_seconds")),
        "rateFactor": ItemField("number", _default("rate_factor")),
        "rateLeast": ItemField("whole", _default("rate_least")),
        "oldestHours": ItemField("number", _default("oldest_hours")),
        "waitingSeconds": ItemField("whole", _default("waiting_seconds")),
        "silentSeconds": ItemField("whole", _default("silent_seconds")),
        "enabled": ItemField("flag", default=True),
    }

    def prepare(self) -> None:
        """Create the keys that seal secrets, if none exist."""
        sealing.prepare()

    def rows(self, workspace: Workspace) -> QuerySet[AlertRule]:
        """Return the workspace's rules."""
        return (
            AlertRule.objects.filter(workspace=workspace).select_related("about").order_by("name")
        )

    def item(self, row: AlertRule) -> Item:
        """Return the item of a rule, without the rule's secret."""
        return super().item(row) | {"workflow": row.about.slug if row.about else None}

    def create(self, context: BundleContext, item: Item) -> None:
        """Create a rule; its secret comes from the item's credential, if the item names one."""
        secret = _secret(context.workspace, item) or ""
        create_rule(
            context.workspace, self._about(context, item), secret=secret, actor=context.actor
        )

    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Change a rule; without a credential, the secret is kept unless the channel changes."""
        secret = _secret(context.workspace, item)
        change_rule(row.id, self._about(context, item), secret=secret, actor=context.actor)

    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete a rule, with its alerts and messages."""
        delete_rule(row.id, actor=context.actor)

    def _about(self, context: BundleContext, item: Item) -> dict[str, Any]:
        """Return a rule's values, with the ID of its workflow. Raises AlertRuleRefused."""
        slug = item["workflow"]
        if slug is not None and slug not in context.workflows:
            what = f"There is no workflow {slug!r} in the workspace or the bundle."
            raise AlertRuleRefused(
                "The alert rule is not valid.", [DefinitionProblem("workflow", "unknown", what)]
            )
        about = None if slug is None else context.workflows[slug]
        return self.facts(item) | {"about_id": about}

    def unseen(self, context: BundleContext, row: StoredItem, item: Item) -> list[str]:
        """Return a line if the credential is unusable, or its secret differs from the rule's."""
        try:
            secret = _secret(context.workspace, item)
        except AlertRuleRefused:
            return [f"credential: {item['credential']} is missing"]
        if secret is None or secret == secret_of(AlertRule.objects.get(pk=row.id)):
            return []
        return [f"secret: that of the credential {item['credential']}"]


def _secret(workspace: Workspace, item: Item) -> str | None:
    """Return the secret in the item's credential; None if the item names no credential.

    Raises AlertRuleRefused.
    """
    name = item["credential"]
    if name is None:
        return None
    wanted = SECRET_FIELDS.get(item["channel"], "")
    fields = credential_values(workspace.pk, [name]).get(name)
    if fields is None:
        what = f"The workspace has no credential {name!r}. Create it there."
        problem = DefinitionProblem("credential", "unknown_credential", what)
    elif not fields.get(wanted):
        what = f"The credential {name!r} has no field {wanted!r}, which the channel needs."
        problem = DefinitionProblem("credential", "wrong_credential", what)
    else:
        return fields[wanted]
    raise AlertRuleRefused("The alert rule is not valid.", [problem])
