"""What takes secrets out of what a remote runner reports of a step that was given some."""

from runners.pipeline.end_run import Looked
from runners.pipeline.reveal_secrets import scrubber_of, uses_secrets
from runners.secrets.scrubbing import Scrubber


def scrubber(looked: Looked) -> Scrubber | None:
    """What scrubs the reports of this run; None for a step that uses no secrets.

    Call it outside a transaction: reading secrets may take a key service. Raises
    SecretUnavailable when one of them is gone meanwhile.
    """
    if not uses_secrets(looked.work.step):
        return None
    return scrubber_of(looked.state.data, looked.work.step)
