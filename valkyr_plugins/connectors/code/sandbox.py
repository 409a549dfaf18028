"""Choose the sandbox for steps' code: bubblewrap or the built-in sandbox.

Both apply the same limits, Landlock rules and system call filter (`confined/`). They differ in the
program that creates the namespaces and the file system: bubblewrap, which is widely reviewed, or
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
    """The command that runs a request's code, and the folder from which it imports `confined`.

    `engine` is the path at which the command finds the library of the code's language.
    """

    name: str
    command: tuple[str, ...]
    home: str
    engine: str = ""

    def request(self, asked: dict[str, Any]) -> bytes:
        """Return the standard input of the sandbox's command: the request as JSON."""
        engine = {"engine": self.engine} if self.engine else {}
        return json.dumps(asked | {"home": self.home} | engine).encode()


def chosen(engine: str = "") -> Sandbox:
    """Return the sandbox to use. Raises StepError if bubblewrap is required but does not work."""
    wanted = settings().code_sandbox
    cause = "" if wanted == BUILTIN else bubblewrap.failure()
    if cause and wanted == BUBBLEWRAP:
        raise StepError(REFUSED.format(cause=cause))
    if cause or wanted == BUILTIN:
        return Sandbox(BUILTIN, bubblewrap.python(sys.executable, HOME, "main"), HOME, engine)
    seen = bubblewrap.seen(engine) if engine else ""
    return Sandbox(BUBBLEWRAP, bubblewrap.command(engine), bubblewrap.HOME, seen)


def announce() -> None:
    """If code is on, log which sandbox this process uses; try bubblewrap before a step needs it."""
    if not (settings().python_code or settings().javascript_code):
        return
    wanted = settings().code_sandbox
    cause = "" if wanted == BUILTIN else bubblewrap.failure()
    if not cause:
        log.info("code of workflows runs in the sandbox %s", chosen().name)
    elif wanted == AUTO:
        log.warning("code of workflows runs in the built-in sandbox: %s", cause)
    else:
        log.warning(REFUSED.format(cause=cause))
