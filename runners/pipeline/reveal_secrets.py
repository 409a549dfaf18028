"""Replace `[secret:…]` for a step's module, and remove the secrets from its results.

Rows, hashes, messages and logs hold references only. The values are read right before a module
runs, in one query, only for steps that name secrets or a credential (`uses_secrets`).

A step gets a credential only within its boundary: `credentials.use` judges module and workflow
here, `Revealed.used` checks the module's connections by host.

    revealed(data, step, inputs, attempt=…, overrides=…) -> Revealed
    secret_places(data, step, inputs, attempt=…, overrides=…)   for `filled`, in a worker
    filled(data, step, inputs, places) -> Revealed   the same in a process that renders nothing
    scrubber_of(data, step) -> Scrubber      for what a remote runner reports later
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from executions import credentials
from executions.credentials import Boundary, OpenedCredential
from executions.credentials.boundary import CredentialUse, refusal
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
from runners.modules.credential_hosts import using
from runners.secrets.scrubbing import Scrubber
from runners.segment.inputs import budget_of
from runners.segment.template_data import TemplateData

Fields = Mapping[str, str]


class SecretUnavailable(StepError):
    """A step names a secret that it cannot have; retries do not help."""


class SecretRefused(SecretUnavailable):
    """A step names a credential whose boundary does not allow the step."""


@dataclass(frozen=True, slots=True, repr=False)
class Revealed:
    """The module's real inputs, its credential's fields, and the scrubber of its results.

    `boundaries` are those of all credentials that the step names.
    """

    inputs: Any
    credential: Fields | None
    scrub: Scrubber
    boundaries: Mapping[str, Boundary]

    def used(self) -> AbstractContextManager[None]:
        """Give the module its secrets in the block, where each connection is checked by host."""
        return using(self.boundaries)

    def cleaned(self, ended: Result | Wait, path: str) -> Result | Wait:
        """Return the module's result without secrets; raises StepError, PayloadError."""
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
    data: TemplateData, step: Step, inputs: Any, *, attempt: int, overrides: Any = None
) -> Revealed:
    """Read the secret values of a step, and put them where its inputs name them.

    `inputs` are the rendered ones, with references (`Prepared.value`); they stay unchanged. Raises
    SecretUnavailable, TemplateError, and the errors of `credentials.opened_of`.
    """
    opened = _read(data, step, remote=False)
    found = {name: one.fields for name, one in opened.items()}
    values = {secret: _value(data, step, found, secret) for secret in step.secrets}
    given, left = inputs, list[Pointer]()
    if step.secrets:
        scope = data.scope(step, attempt)
        given, left = reveal(
            step.config.sealed, inputs, scope, values, budget_of(step, time.monotonic())
        )
        _refuse_written(data, step, inputs, left, overrides)
    return _revealed(step, given, opened)


def secret_places(
    data: TemplateData, step: Step, inputs: Any, *, attempt: int, overrides: Any = None
) -> list[Place]:
    """Return where a step's rendered inputs name secrets, for `filled`; reads no values.

    Raises SecretUnavailable for a reference that a person wrote by hand, TemplateError.
    """
    if not step.secrets:
        return []
    scope = data.scope(step, attempt)
    budget = budget_of(step, time.monotonic())
    found, left = places(step.config.sealed, inputs, scope, budget)
    _refuse_written(data, step, inputs, left, overrides)
    return found


def filled(data: TemplateData, step: Step, inputs: Any, found_places: Sequence[Place]) -> Revealed:
    """Reveal inputs whose `secret_places` are known, as `revealed` does, for a remote runner.

    Nothing is rendered. The engine cannot check where a remote runner sends the values, so each
    credential says whether remote runners may have it. Raises like `revealed`, without
    TemplateError.
    """
    opened = _read(data, step, remote=True)
    found = {name: one.fields for name, one in opened.items()}
    values = {secret: _value(data, step, found, secret) for secret in step.secrets}
    given = fill(found_places, inputs, values)
    return _revealed(step, given, opened)


def scrubber_of(data: TemplateData, step: Step) -> Scrubber:
    """Return the scrubber for a step's results, by the current values of its secrets."""
    return _scrubber(step, {name: one.fields for name, one in _found(data, step).items()})


def _read(data: TemplateData, step: Step, *, remote: bool) -> Mapping[str, OpenedCredential]:
    """Return the step's credentials, each within its boundary."""
    found = _found(data, step)
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
    use = CredentialUse(
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
    return found


def _found(data: TemplateData, step: Step) -> Mapping[str, OpenedCredential]:
    names = {name for name, _ in step.secrets}
    if step.credential:
        names.add(step.credential)
    found = credentials.opened_of(data.context.version.workspace_id, names)
    missing = sorted(names - found.keys())
    if missing:
        raise SecretUnavailable(
            f'{_who(data, step)} needs the credential "{missing[0]}", which its workspace does '
            "not have. Create it, then requeue the step."
        )
    return found


def _value(data: TemplateData, step: Step, found: Mapping[str, Fields], secret: SecretField) -> str:
    name, field = secret
    if field not in found[name]:
        raise SecretUnavailable(
            f'{_who(data, step)} needs the field "{field}" of the credential "{name}", which '
            f"has only: {', '.join(sorted(found[name])) or 'none'}. Add it, or name another field."
        )
    return found[name][field]


def _revealed(step: Step, given: Any, opened: Mapping[str, OpenedCredential]) -> Revealed:
    found = {name: one.fields for name, one in opened.items()}
    boundaries = {name: one.boundary for name, one in opened.items()}
    return Revealed(given, found.get(step.credential), _scrubber(step, found), boundaries)


def _scrubber(step: Step, found: Mapping[str, Fields]) -> Scrubber:
    names = {
        found[name][field]: reference((name, field))
        for name, field in step.secrets
        if field in found[name]
    }
    own = found.get(step.credential, {})
    return Scrubber(
        names | {value: reference((step.credential, field)) for field, value in own.items()}
    )


def _refuse_written(
    data: TemplateData, step: Step, inputs: Any, left: list[Pointer], overrides: Any
) -> None:
    """Reject a reference that a person wrote by hand: the module would receive it as plain text."""
    names = [reference(secret) for secret in step.secrets]
    filled = {pointer for pointer, _, _ in step.config.sealed} - set(left)
    written: list[tuple[Pointer, Any]] = []
    if overrides and "inputs" in overrides:
        written += _texts(overrides["inputs"], ())
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
