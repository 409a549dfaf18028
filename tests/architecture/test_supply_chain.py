"""The packages of a release: their licences, and the SBOM that lists them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.licences import Package, packages

PROJECT = Path(__file__).parents[2]


def test_every_pinned_package_has_a_licence_that_is_allowed() -> None:
    assert not {package.name: why for package in packages() if (why := package.refused())}


@pytest.mark.parametrize(
    ("licences", "refused"),
    [
        (("MIT",), False),
        (("GPL-3.0-only OR MIT",), False),
        (("Apache-2.0 AND (GPL-3.0-only OR BSD-3-Clause)",), False),
        (("BSD License",), False),
        (("AGPL-3.0-or-later",), True),
        (("GPL-2.0-only AND MIT",), True),
        (("MIT", "GPL-2.0-only"), True),
        (("Free for friends",), True),
        ((), True),
    ],
)
def test_licences_are_judged_by_their_expressions(licences: tuple[str, ...], refused: bool) -> None:
    assert bool(Package("pypi", "some", "1.0", licences, ()).refused()) == refused


def test_the_sbom_lists_every_package_and_keeps_to_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    subprocess.run([sys.executable, "-m", "tools.sbom", str(file)], cwd=PROJECT, check=True)

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text()) is None
    listed = {one["purl"]: one for one in json.loads(file.read_text())["components"]}
    assert len(listed) == len(packages())
    django = next(one for address, one in listed.items() if address.startswith("pkg:pypi/django@"))
    assert django["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    [files] = django["externalReferences"]
    pins = (PROJECT / "requirements.txt").read_text()
    assert all(digest["content"] in pins for digest in files["hashes"])
    assert all(one["externalReferences"][0]["hashes"] for one in listed.values())
