"""Check the licences of the pinned packages; none may extend to the code of users.

`python tools/licences.py` exits with 1 and names each package whose licence is unknown or not
allowed. It reads requirements.txt, the installed packages' metadata and the studio's lock file, and
uses no network.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

PROJECT = Path(__file__).parents[1]
REQUIREMENTS = PROJECT / "requirements.txt"
LOCK = PROJECT / "executions/frontend/package-lock.json"

# Permissive licences, and those whose copyleft ends at the package's own files or library.
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "LGPL-3.0-only"),
        *("LGPL-3.0-or-later", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Unlicense"),
    }
)
# Licence names of packages that do not use SPDX's.
SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 3-Clause OR Apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "LGPLv3": "LGPL-3.0-only",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
UNSPECIFIC = frozenset({"BSD License"})  # all licences that this name may mean are allowed
PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^ ;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package.

    `kind` is the registry's name in package URLs. `licences` lists the stated licences, which all
    apply; None for a package that is not installed because it is pinned for another platform.
    `hashes` has the algorithm and the digest of each file, in the registry's notation.
    """

    kind: str
    name: str
    version: str
    licences: tuple[str, ...] | None
    hashes: tuple[tuple[str, str], ...]

    def refused(self) -> str | None:
        """Return why the package's licences are not allowed; None if they are allowed."""
        if self.licences is None:
            return None
        if not self.licences:
            return "says no licence"
        return next(filter(None, map(_refused, self.licences)), None)


def packages() -> list[Package]:
    """Return every package that users install: Python's, then those bundled in the studio."""
    return [*_python(), *_studio()]


def _python() -> Iterator[Package]:
    text = REQUIREMENTS.read_text()
    pins = list(PIN.finditer(text))
    for pin, end in zip(pins, [*(p.start() for p in pins[1:]), len(text)], strict=True):
        hashes = tuple(("SHA-256", digest) for digest in HASH.findall(text[pin.start() : end]))
        yield Package("pypi", pin[1], pin[2], _licences(pin[1]), hashes)


def _licences(name: str) -> tuple[str, ...] | None:
    """Return a distribution's licences, from its metadata or file; None if it is not installed."""
    try:
        known = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if known["License-Expression"]:
        return (str(known["License-Expression"]),)
    kinds = [kind for kind in known.get_all("Classifier") or [] if kind.startswith("License ::")]
    said = [kind.rpartition(" :: ")[2] for kind in kinds] or [(known["License"] or "").strip()]
    said = said if any(said) else [_title(name)]
    return tuple(SPDX.get(one, one) for one in said if one)


def _title(name: str) -> str:
    """Return the first line of a distribution's licence file; "" unless there is exactly one."""
    files = [one for one in metadata.files(name) or () if "licenses" in one.parts]
    return files[0].read_text().lstrip().partition("\n")[0].strip() if len(files) == 1 else ""


def _studio() -> Iterator[Package]:
    locked: dict[str, Any] = json.loads(LOCK.read_text())["packages"]
    for place, facts in locked.items():
        if place and not facts.get("dev"):
            algorithm, _, digest = facts.get("integrity", "").partition("-")
            hashes = ((algorithm.replace("sha", "SHA-"), digest),) if digest else ()
            name = place.rpartition("node_modules/")[2]
            licences = (facts["license"],) if facts.get("license") else ()
            yield Package("npm", name, facts["version"], licences, hashes)


def _refused(licence: str) -> str | None:
    """Return why a licence is not allowed; None if it is allowed."""
    if licence in UNSPECIFIC:
        return None
    try:
        parsed = get_spdx_licensing().parse(licence, validate=True)
    except ExpressionError as error:
        return f"has a licence that SPDX does not know, {licence!r} ({error})"
    return None if _allows(parsed) else f"has the licence {licence}"


def _allows(parsed: Any) -> bool:
    """Return whether allowed licences alone satisfy an expression."""
    operator = getattr(parsed, "operator", None)
    if operator is None:
        return parsed.key in ALLOWED
    decide = any if operator.strip() == "OR" else all
    return decide(_allows(one) for one in parsed.args)


def main() -> int:
    """Check all packages; return 1 if one is rejected."""
    found = packages()
    refused = [(package, why) for package in found if (why := package.refused())]
    for package, why in refused:
        sys.stdout.write(f"{package.kind}:{package.name} {package.version} {why}.\n")
    if refused:
        sys.stdout.write(f"Allowed are {', '.join(sorted(ALLOWED))} (tools/licences.py).\n")
        return 1
    sys.stdout.write(f"{len(found)} packages, all with a licence that is allowed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
