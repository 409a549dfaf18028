"""Operations on workflows and backtests, for the admin and the API."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from executions.public.access import Action, Actor, Operation
from executions.public.models import Workflow
from valkyr_plugins.backtest import lifecycle
from valkyr_plugins.backtest.lifecycle import BacktestWish
from valkyr_plugins.backtest.models import UNFINISHED, Backtest

Data = Mapping[str, Any]


def wish_of(data: Data) -> BacktestWish:
    """Return the requested backtest, from the data of a form or of an API request."""
    chosen = {
        "states": sorted(data.get("states") or ()),
        "from": _text(data.get("from")),
        "until": _text(data.get("until")),
        "version": data.get("ranOn"),
    }
    return BacktestWish(
        version=data.get("version"),
        definition=data.get("definition"),
        most=data.get("last") or lifecycle.DEFAULT,
        selection={name: value for name, value in chosen.items() if value},
    )


def _text(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat()


def _start(pk: UUID, actor: Actor, data: Data) -> Backtest:
    return lifecycle.create(pk, wish_of(data), actor=actor)


def _cancel(pk: UUID, actor: Actor, data: Data) -> Backtest:
    return lifecycle.cancel(pk, actor=actor, reason=data.get("reason", ""))


def _refuse_archived(row: Workflow) -> str:
    return gettext("The workflow is archived.") if row.archived_at else ""


def _refuse_ended(row: Backtest) -> str:
    return "" if row.state in UNFINISHED else gettext("The backtest has ended.")


START = Operation(name="backtest", apply=_start, needs=Action.AUTHOR, refuse=_refuse_archived)
CANCEL = Operation(name="cancel", apply=_cancel, needs=Action.AUTHOR, refuse=_refuse_ended)
