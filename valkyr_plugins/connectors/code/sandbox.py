"""Which sandbox runs the code of steps: bubblewrap's, or the built-in one.

Both end in the same limits, Landlock rules and filter of system calls (`confined/`). They differ in
what makes the namespaces and the file system: bubblewrap, which others review and rely on, or
`confined/` itself.
"""

import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.public.modules import StepError
from valkyr_plugins.connectors.code import bubblewrap
from valkyr_plugins.connectors.conf import settings

log = logging.getLogger(__name__)
AUTO, BUBBLEWRAP, BUILTIN = "auto", "bubblewrap", "builtin"
PAGE = "docs/how-to/code-sandbox.md"
REFUSED = (
    "VALKYR_CODE_SANDBOX is bubblewrap, which does not work in this process: {cause}. Fix that as "
    f"{PAGE} says, or set VALKYR_CODE_SANDBOX to auto or builtin"
)
HOME = str(Path(__file__).parents[3])


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A command that runs a request's code, and the folder from which it imports `confined`."""

    name: str
    command: tuple[str, ...]
    home: str

    def request(self, asked: dict[str, Any]) -> bytes:
        """What the command reads from its standard input."""
        return json.dumps(asked | {"home": self.home}).encode()


def chosen() -> Sandbox:
    """Return the sandbox that the settings ask for; raises StepError where it does not work."""
    wanted = settings().code_sandbox
    cause = "" if wanted == BUILTIN else bubblewrap.failure()
    if cause and wanted == BUBBLEWRAP:
        raise StepError(REFUSED.format(cause=cause))
    if cause or wanted == BUILTIN:
        return Sandbox(BUILTIN, bubblewrap.python(sys.executable, HOME, "main"), HOME)
    return Sandbox(BUBBLEWRAP, bubblewrap.command(), bubblewrap.HOME)


def announce() -> None:
    """Log which sandbox this process uses; bubblewrap is tried here, before a step needs it."""
    if not settings().python_code:
        return
    wanted = settings().code_sandbox
    cause = "" if wanted == BUILTIN else bubblewrap.failure()
    if not cause:
        log.info("python.code runs in the sandbox %s", chosen().name)
    elif wanted == AUTO:
        log.warning("python.code runs in the built-in sandbox: %s", cause)
    else:
        log.warning(REFUSED.format(cause=cause))
