"""What a failed step talked to: a host, say. Asked after a failure, so that others pay nothing."""

from runners.failures.storable import LONGEST_TARGET, storable_text
from runners.modules import registry
from runners.pipeline.reveal_secrets import Revealed
from runners.segment.inputs import Prepared


def failure_target(module: str, prepared: Prepared, revealed: Revealed | None) -> str:
    """The target of the step's circuit, without the word before its colon and without secrets.

    Empty where the module names none, or its inputs do not say; never raises.
    """
    try:
        kind = registry.get(module)
        if not kind.has_circuit():
            return ""
        given = prepared.value if revealed is None else revealed.inputs
        target = kind.circuit_with(
            kind.validated(given), None if revealed is None else revealed.credential
        )
    # It is the step's failure that is to be told, not that of a module's own code.
    except Exception:
        return ""
    word, _, rest = (target or "").partition(":")
    text = rest or word
    return storable_text(text if revealed is None else revealed.scrub.message(text), LONGEST_TARGET)
