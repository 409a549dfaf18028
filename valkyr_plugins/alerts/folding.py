"""News become alerts of the rules that want them, in the order in which they came."""

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q

from valkyr_plugins.alerts import news
from valkyr_plugins.alerts.finding import Finding
from valkyr_plugins.alerts.models import AlertNews, AlertRule
from valkyr_plugins.alerts.raising import notice, tell

log = logging.getLogger(__name__)
BATCH = 500


def fold() -> int:
    """Take away up to 500 news; how many alerts people are told of for them."""
    wanted: dict[AlertRule, None] = {}
    with transaction.atomic():
        rows = list(AlertNews.objects.select_for_update(skip_locked=True).order_by("id")[:BATCH])
        for row in rows:
            wanted |= dict.fromkeys(_noticed(news.read(row)))
        AlertNews.objects.filter(pk__in=[row.pk for row in rows]).delete()
        return sum(tell(rule) for rule in wanted)


def wanting(finding: Finding) -> Iterable[AlertRule]:
    """The rules that want to hear of it: its workspace's and the installation's."""
    rules = AlertRule.objects.select_related("workspace").filter(
        enabled=True, kinds__contains=[finding.kind]
    )
    if finding.workspace_id is not None:
        rules = rules.filter(Q(workspace_id=finding.workspace_id) | Q(workspace=None))
    return rules.filter(Q(about=None) | Q(about_id=finding.workflow_id)).order_by("id")


def _noticed(finding: Finding) -> list[AlertRule]:
    """The rules that were told; news that cannot be read stop none behind them."""
    try:
        with transaction.atomic():
            rules = list(wanting(finding))
            for rule in rules:
                notice(rule, finding)
    except Exception:
        log.exception("could not raise alerts for %s %s; going on", finding.kind, finding.subject)
        return []
    return rules
