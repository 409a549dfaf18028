"""Replace `[secret:…]` for a step's module, and remove the secrets from its results.

Rows, hashes, messages and logs contain only references. The values are read before a module runs,
in one query, only for steps that name secrets or a credential (`uses_secrets`).

A step gets a credential only within the credential's boundary: `credentials.boundary` checks module
and workflow here, and `Revealed.used` checks the module's connections by host. The query that reads
the values records each use. Short-lived values are then fetched from the server that issues them.

    revealed(data, step, inputs, run_id=…, attempt=…, changes=…) -> Revealed

For a remote runner, a worker finds the places, a web process fills them, and later reports are
scrubbed:

    secret_places(data, step, inputs, attempt=…, changes=…) -> list[Place]
    filled(data, step, inputs, places, run_id=…, attempt=…) -> Revealed
    scrubber_of(data, step) -> Scrubber
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from executions import credentials
from executions.credentials import Boundary, OpenedCredential, UsingStep
from executions.credentials.boundary import RequestedUse, refusal
from executions.credentials.definition_check import static_place
from executions.definition.graph.model import Step
from executions.definition.templating.errors import Pointer, key_path
from executions.definition.templating.secrets import (
    Place,
    SecretField,
    at,
    fill,
    places,
    reference,
    reveal,
)
from runners.modules import registry
from runners.modules.base import Result, StepError, Wait
from runners.modules.credential_hosts import RefusedHost, using
from runners.pipeline.short_lived import ShortLived, forget_rejected, issue, refuse_remote
from runners.secrets.scrubbing import Scrubber
from runners.segment.inputs import budget_of
from runners.segment.template_data import TemplateData

log = logging.getLogger(__name__)
Fields = Mapping[str, str]


class SecretUnavailable(StepError):
    """A step names a secret that it cannot get; retries do not help."""


class SecretRefused(SecretUnavailable):
    """A step names a credential whose boundary excludes the step."""


@dataclass(slots=True, repr=False)
class Revealed:
    """The inputs with secrets, the credential's fields, and the scrubber of the module's results.

    `boundaries` are the boundaries of all credentials that the step names, and `opened` are the
    credentials. `short_lived` are the issued values, and `kept_from` are the connections that a
    boundary rejected.
    """

    inputs: Any
    credential: Fields | None
    scrub: Scrubber
    boundaries: Mapping[str, Boundary]
    step: UsingStep | None = None
    opened: Mapping[str, OpenedCredential] = field(default_factory=dict)
    short_lived: Sequence[ShortLived] = ()
    kept_from: list[RefusedHost] = field(default_factory=list)

    def used(self) -> AbstractContextManager[None]:
        """Return a context manager that checks the host of each connection of the module."""
        return using(self.boundaries, self.kept_from)

    def cleaned(self, ended: Result | Wait, path: str) -> Result | Wait:
        """Return the module's result without secrets. Raises StepError or PayloadError."""
        scrub = self.scrub
        if isinstance(ended, Wait):
            if scrub.text(ended.key) != ended.key:
                raise StepError(
                    f"Step {path} waits for a name that contains a secret, which would be stored. "
                    "Use a name without secrets."
                )
            return replace(ended, facts=scrub.value(ended.facts, f"facts of step {path}"))
        return replace(
            ended,
            outputs=scrub.value(ended.outputs, f"output of step {path}"),
            variables=scrub.value(ended.variables, f"variables of step {path}"),
        )


def uses_secrets(step: Step) -> bool:
    """Return whether the step names a secret or a credential."""
    return bool(step.secrets or step.credential)


def revealed(
    data: TemplateData,
    step: Step,
    inputs: Any,
    *,
    run_id: UUID,
    attempt: int,
    changes: Any = None,
) -> Revealed:
    """Read a step's secrets, and return its inputs with the secrets' values.

    `inputs`, the rendered inputs with references (`Prepared.value`), are not changed. Raises
    SecretUnavailable, SecretNotIssued, TemplateError, and the errors of `credentials.opened_for`.
    """
    asking = _asking(data, step, inputs, run_id, attempt)
    stored = _read(data, step, asking)
    with _refusals(asking, stored):
        opened, short_lived = issue(_who(data, step), asking, stored)
        given = _given(data, step, inputs, opened, attempt, changes)
    return _revealed(step, given, opened, asking, short_lived)


def renew(
    data: TemplateData,
    step: Step,
    inputs: Any,
    revealed: Revealed,
    error: StepError,
    *,
    attempt: int,
    changes: Any = None,
) -> None:
    """Replace short-lived values that a receiver rejected; raise `error` if that cannot help.

    Values that were issued for this attempt are not requested again.
    """
    asking = revealed.step
    if asking is None or not forget_rejected(revealed.short_lived, error):
        raise error
    sources = {one.source.name: one.source for one in revealed.short_lived}
    stored = {
        name: replace(one, fields=sources[name].fields) if name in sources else one
        for name, one in revealed.opened.items()
    }
    opened, short_lived = issue(_who(data, step), asking, stored)
    revealed.inputs = _given(data, step, inputs, opened, attempt, changes)
    revealed.credential = opened[step.credential].fields if step.credential else None
    # The step's results may still contain the old values, so both are scrubbed.
    revealed.scrub = Scrubber(_references(step, revealed.opened) | _references(step, opened))
    revealed.opened, revealed.short_lived = opened, short_lived
    log.info("step %s: its credential was rejected; it runs again with new values", asking.path)


def note_refused(revealed: Revealed | None) -> None:
    """Record the connections that a boundary rejected. Makes no query if there are none.

    Database errors are only logged, because the step's result does not depend on this record.
    """
    if revealed is None or revealed.step is None:
        return
    try:
        for one in dict.fromkeys(revealed.kept_from):
            opened = revealed.opened.get(one.name)
            credentials.note_refused(
                revealed.step, one.name, one.reason, credential=opened, host=one.place
            )
    except DatabaseError:
        log.warning("a refused connection of %s was not recorded", revealed.step.path)
    revealed.kept_from.clear()


def _given(
    data: TemplateData,
    step: Step,
    inputs: Any,
    opened: Mapping[str, OpenedCredential],
    attempt: int,
    changes: Any,
) -> Any:
    """Return the inputs with the values of the secrets in place of the references."""
    found = {name: one.fields for name, one in opened.items()}
    values = {secret: _value(data, step, found, secret) for secret in step.secrets}
    if not step.secrets:
        return inputs
    scope = data.scope(step, attempt)
    budget = budget_of(step, time.monotonic())
    given, left = reveal(step.config.sealed, inputs, scope, values, budget)
    _refuse_written(data, step, inputs, left, changes)
    return given


def secret_places(
    data: TemplateData, step: Step, inputs: Any, *, attempt: int, changes: Any = None
) -> list[Place]:
    """Return the places of secrets in a step's rendered inputs, for `filled`. Reads no values.

    Raises TemplateError, and SecretUnavailable for a reference that a person wrote by hand.
    """
    if not step.secrets:
        return []
    scope = data.scope(step, attempt)
    budget = budget_of(step, time.monotonic())
    found, left = places(step.config.sealed, inputs, scope, budget)
    _refuse_written(data, step, inputs, left, changes)
    return found


def filled(
    data: TemplateData,
    step: Step,
    inputs: Any,
    found_places: Sequence[Place],
    *,
    run_id: UUID,
    attempt: int,
) -> Revealed:
    """Reveal inputs for a remote runner, as `revealed` does, at the places from `secret_places`.

    Nothing is rendered. The engine cannot check where a remote runner sends the values, so each
    credential specifies whether remote runners may receive it. Raises SecretNotIssued for
    short-lived values, the other errors of `revealed` except TemplateError, and the ValueError of
    `fill`.
    """
    asking = _asking(data, step, inputs, run_id, attempt, remote=True)
    opened = _read(data, step, asking)
    with _refusals(asking, opened):
        refuse_remote(_who(data, step), opened)
        found = {name: one.fields for name, one in opened.items()}
        values = {secret: _value(data, step, found, secret) for secret in step.secrets}
        given = fill(found_places, inputs, values)
    return _revealed(step, given, opened, asking)


def scrubber_of(data: TemplateData, step: Step) -> Scrubber:
    """Return the scrubber for a step's results, based on the current values of its secrets.

    Raises SecretUnavailable if the workspace lacks one of the step's credentials.
    """
    found = credentials.opened_of(data.context.version.workspace_id, _names(step))
    _require(data, step, found)
    return Scrubber(_references(step, found))


def _asking(
    data: TemplateData,
    step: Step,
    inputs: Any,
    run_id: UUID,
    attempt: int,
    *,
    remote: bool = False,
) -> UsingStep:
    """Return the step's description for the records of credential use."""
    version = data.context.version
    return UsingStep(
        version.workspace_id,
        version.workflow_id,
        data.context.execution_id,
        run_id,
        data.path(step),
        attempt,
        step.module,
        _host(step, inputs),
        remote,
    )


def _host(step: Step, inputs: Any) -> str:
    """Return the host and port in the inputs; "" if there are none or the address has a secret."""
    for key in registry.get(step.module).addresses if isinstance(inputs, Mapping) else ():
        text = inputs.get(key)
        named = isinstance(text, str) and "[secret:" not in text.partition("?")[0]
        place = static_place(text) if named else None
        if place is not None:
            host, port = place
            shown = f"[{host}]" if ":" in host else host
            return shown if port is None else f"{shown}:{port}"
    return ""


@contextmanager
def _refusals(asking: UsingStep, opened: Mapping[str, OpenedCredential]) -> Iterator[None]:
    """Record a refusal of all the step's credentials if the block raises StepError."""
    try:
        yield
    except StepError as error:
        credentials.refuse(asking, [one.use_id for one in opened.values()], error.message)
        raise


def _read(data: TemplateData, step: Step, asking: UsingStep) -> Mapping[str, OpenedCredential]:
    """Return the step's credentials if the boundary of each allows the step; record the outcome."""
    found = credentials.opened_for(asking, _names(step))
    with _refusals(asking, found):
        try:
            _require(data, step, found)
        except SecretUnavailable as error:
            for name in sorted(_names(step) - found.keys()):
                credentials.note_refused(asking, name, error.message)
            raise
        _judge(data, step, found, remote=asking.remote)
    return found


def _judge(
    data: TemplateData, step: Step, found: Mapping[str, OpenedCredential], *, remote: bool
) -> None:
    """Raise SecretRefused if the step is outside the boundary of one of its credentials."""
    boundaries = {name: one.boundary for name, one in found.items()}
    in_texts = {name for name, _ in step.secrets}
    module = registry.get(step.module)
    places = ((pointer, named) for pointer, _, named in step.config.sealed)
    kept = {
        name
        for pointer, named in places
        if pointer and pointer[0] in module.keeps
        for name, _ in named
    }
    use = RequestedUse(
        step.module,
        module.judges_hosts,
        data.context.version.workflow_id,
        in_texts,
        kept,
        remote=remote,
    )
    why = refusal(use, boundaries)
    if why is not None:
        raise SecretRefused(
            f"{_who(data, step)}: {why}. Use another credential, or ask a user with the "
            "permission *configure* to allow it in the credential's boundary. Then requeue the "
            "step."
        )


def _names(step: Step) -> set[str]:
    names = {name for name, _ in step.secrets}
    return names | {step.credential} if step.credential else names


def _require(data: TemplateData, step: Step, found: Mapping[str, OpenedCredential]) -> None:
    """Raise SecretUnavailable if the workspace lacks one of the step's credentials."""
    missing = sorted(_names(step) - found.keys())
    if missing:
        raise SecretUnavailable(
            f'{_who(data, step)} needs the credential "{missing[0]}", which its workspace does '
            "not have. Create it, then requeue the step."
        )


def _value(data: TemplateData, step: Step, found: Mapping[str, Fields], secret: SecretField) -> str:
    name, field = secret
    if field not in found[name]:
        raise SecretUnavailable(
            f'{_who(data, step)} needs the field "{field}" of the credential "{name}", which '
            f"has only: {', '.join(sorted(found[name])) or 'none'}. Add it, or name another field."
        )
    return found[name][field]


def _revealed(
    step: Step,
    given: Any,
    opened: Mapping[str, OpenedCredential],
    asking: UsingStep,
    short_lived: Sequence[ShortLived] = (),
) -> Revealed:
    boundaries = {name: one.boundary for name, one in opened.items()}
    own = opened[step.credential].fields if step.credential else None
    scrub = Scrubber(_references(step, opened))
    return Revealed(given, own, scrub, boundaries, asking, opened, short_lived)


def _references(step: Step, opened: Mapping[str, OpenedCredential]) -> dict[str, str]:
    """Return the reference that replaces each of the step's secrets, keyed by secret value."""
    names = {
        opened[name].fields[field]: reference((name, field))
        for name, field in step.secrets
        if field in opened[name].fields
    }
    own = opened[step.credential].fields if step.credential in opened else {}
    return names | {value: reference((step.credential, field)) for field, value in own.items()}


def _refuse_written(
    data: TemplateData, step: Step, inputs: Any, left: list[Pointer], changes: Any
) -> None:
    """Raise SecretUnavailable for a reference that a person wrote by hand.

    The module would otherwise receive the reference as plain text.
    """
    names = [reference(secret) for secret in step.secrets]
    filled = {pointer for pointer, _, _ in step.config.sealed} - set(left)
    written: list[tuple[Pointer, Any]] = []
    if changes:
        written += _texts(changes, ())
    written += [(pointer, at(inputs, pointer)) for pointer in left]
    for pointer, text in written:
        found = [name for name in names if isinstance(text, str) and name in text]
        if found and pointer not in filled:
            raise SecretUnavailable(
                f"{_who(data, step)}: {key_path(pointer)} was changed, so {found[0]} in it cannot "
                "be replaced by its secret. Requeue the step without a change of this value, or "
                "use a value without secrets."
            )


def _texts(value: Any, pointer: Pointer) -> list[tuple[Pointer, str]]:
    if isinstance(value, str):
        return [(pointer, value)]
    if isinstance(value, Mapping):
        pairs: Any = value.items()
    else:
        pairs = enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in pairs for found in _texts(item, (*pointer, key))]


def _who(data: TemplateData, step: Step) -> str:
    return f'Step {data.path(step)} of workflow "{data.graph.name}"'
