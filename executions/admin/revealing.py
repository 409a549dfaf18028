"""“Reveal…” on the pages that show payloads: unmasked, once, for a reason that is kept."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils.safestring import SafeString

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin.forms import ReasonForm
from executions.admin.operations import AdminOperation
from executions.admin.values import preformatted
from executions.audit.revealing import reveal
from executions.states import Permission


class GivenReasonForm(ReasonForm):
    """Asks why; without an answer nothing is done."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = True


def reveal_operation(model: type[Model], fields: Mapping[str, str]) -> AdminOperation:
    """The operation that shows the `fields` (attributes by name) of one row of `model`."""

    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> SafeString:
        values = reveal(model, pk, fields, actor=actor, reason=data["reason"])
        return preformatted(json.dumps(values, ensure_ascii=False, indent=2, default=str))

    return AdminOperation(
        Operation(
            name="reveal",
            apply=apply,
            needs=Permission.REVEAL,
        ),
        title="Reveal…",
        icon="visibility",
        done="revealed",
        question="Shows the payloads as they are stored, nothing hidden or masked. That you saw "
        "them, and why, is kept in the activity log.",
        form=GivenReasonForm,
        bulk=False,
        shows="Payloads",
    )
