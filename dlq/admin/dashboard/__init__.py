"""The home page: the current problems, with links to them.

Its queries are bounded, and their results are cached for 15 seconds.
"""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from dlq.admin.dashboard import cells, panels
from dlq.admin.dashboard.blocks import BLOCKS
from dlq.admin.dashboard.facts import collect
from dlq.admin.dashboard.verdict import verdict


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the template context for `/admin/`. Unfold calls this hook."""
    kept = collect(request)
    now = timezone.now()
    views = [block.show(request, kept["blocks"].get(name)) for name, block in BLOCKS.items()]
    added_banners = [banner for view in views for banner in view.banners]
    added_problems = [problem for view in views for problem in view.problems]
    added_cards = [card for view in views for card in view.cards]
    return context | {
        "title": gettext("Home"),
        "banners": [*panels.banners(kept, now), *added_banners],
        "cards": panels.cards(kept, now, added_cards),
        "blocks": views,
        "verdict": verdict(kept, now, added_problems),
        "problems": panels.problems(kept, now),
        "panels": panels.panels(kept),
        "nothing_yet": kept["any"] is False,
        "taken_at": kept["at"],
        "all_cells": cells.section(request),
    }
