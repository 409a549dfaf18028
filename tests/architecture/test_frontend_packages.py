"""The packages that build the studio are pinned by hash, and run no code on installation."""

import json
import re
from pathlib import Path
from typing import Any

FRONTEND = Path(__file__).parents[2] / "executions" / "frontend"
DEPENDENCIES = Path(__file__).parents[2] / "docs" / "explanation" / "dependencies.md"


def packages() -> dict[str, Any]:
    """Return the packages in the lock file, without the studio itself."""
    found: dict[str, Any] = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
    return {path: facts for path, facts in found.items() if path}


def asked_for() -> dict[str, str]:
    """Return the packages that package.json names, with their versions."""
    said = json.loads((FRONTEND / "package.json").read_text())
    return {**said["dependencies"], **said["devDependencies"]}


def test_every_version_is_exact_and_the_lock_has_it() -> None:
    locked = packages()

    assert {
        name: version
        for name, version in asked_for().items()
        if not re.fullmatch(r"\d+\.\d+\.\d+", version)
    } == {}
    assert asked_for() == {name: locked[f"node_modules/{name}"]["version"] for name in asked_for()}


def test_every_package_is_known_by_its_hash_and_by_no_host() -> None:
    assert [path for path, facts in packages().items() if not facts.get("integrity")] == []
    # As `omit-lockfile-registry-resolved` in .npmrc has it.
    assert [path for path, facts in packages().items() if "resolved" in facts] == []


def test_no_package_may_run_a_script_when_it_is_installed() -> None:
    assert "ignore-scripts=true" in (FRONTEND / ".npmrc").read_text().splitlines()


def test_every_package_asked_for_has_its_reason() -> None:
    said = DEPENDENCIES.read_text()

    assert [name for name in asked_for() if name not in said] == []
