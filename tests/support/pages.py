"""Pages executed as printed: their shell blocks are run, and the output is compared.

A block ```sh is run; a block ```json or ```text directly after it is its output. In text, `…`
stands for anything on its line; JSON is compared by value.
"""

import json
import re
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.support.stack import PROJECT, Stack, clean_environment

BLOCK = re.compile(r"```(sh|json|text)\n(.*?)```", re.DOTALL)
NEXT = "~~~ next block ~~~"


@dataclass(frozen=True, slots=True)
class Part:
    """One shell block; `kind` is the kind of its output, or empty if the page shows none."""

    script: str
    kind: str = ""
    printed: str = ""


def parts(page: Path) -> list[Part]:
    """Return the shell blocks of a page, in order."""
    found: list[Part] = []
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "sh":
            found.append(Part(text))
        else:
            assert found, f"{page}: what is said to be printed follows no shell block"
            found[-1] = Part(found[-1].script, kind, text)
    return found


def sign_in(stack: Stack) -> str:
    """Return an access token of the stack's administrator."""
    body = {"username": "admin", "password": stack.secrets()["VALKYR_ADMIN_PASSWORD"]}
    request = urllib.request.Request(
        f"{stack.url}/v1/auth/token",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return str(json.load(answer)["access"])


def walk(page: Path, stack: Stack, token: str, seconds: float = 200) -> list[str]:
    """Run a page's blocks in one shell in the project's folder; return each block's output.

    `token` replaces the page's own sign-in, because sign-ins are limited per minute.
    """
    script = f"\necho; echo '{NEXT}'\n".join(part.script for part in parts(page))
    done = subprocess.run(
        ["bash", "-c", "set -eo pipefail\n" + script.replace(".valkyr/", f"{stack.home}/")],
        cwd=PROJECT,
        env=clean_environment()  # as in a user's shell, where commands find the stack
        | {"URL": stack.url, "VALKYR_HOME": str(stack.home), "TOKEN": token}
        | {"STRIPE_HOST": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{page}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return [text.strip() for text in done.stdout.split(NEXT)]


def differences(page: Path, said: list[str]) -> list[str]:
    """Return the places where the output differs from what the page shows."""
    return [
        f"--- the page\n{part.printed}\n--- printed\n{found}"
        for part, found in zip(parts(page), said, strict=True)
        if part.kind and not same(part, found)
    ]


def same(part: Part, found: str) -> bool:
    """Return whether a block printed what its page shows."""
    if part.kind == "json":
        try:
            return bool(json.loads(part.printed) == json.loads(found))
        except ValueError:
            return False
    pattern = "[^\n]*".join(re.escape(piece) for piece in part.printed.strip().split("…"))
    return re.fullmatch(pattern, found) is not None
