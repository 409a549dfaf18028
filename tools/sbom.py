"""Write the software bill of materials (SBOM) in CycloneDX: `python -m tools.sbom sbom.json`.

It lists every pinned package of requirements.txt and of the studio's bundle, with version, licence
and the digests of its files. It uses no network. With SOURCE_DATE_EPOCH in the environment, the
same tree gives the same SBOM; otherwise its serial number and its time differ.
"""

import argparse
import base64
import os
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from tools.licences import PROJECT, Package, packages
from valkyr import __version__

REGISTRIES = {
    "pypi": "https://pypi.org/project/{name}/{version}/",
    "npm": "https://www.npmjs.com/package/{name}/v/{version}",
}


def made() -> Bom:
    """Return the SBOM of this tree."""
    about = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    bom = Bom()
    bom.metadata.component = Component(
        type=ComponentType.APPLICATION,
        name=about["name"],
        version=__version__,
        bom_ref=about["name"],
    )
    parts = [_component(package) for package in packages()]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(bom.metadata.component, parts)
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        bom.metadata.timestamp = datetime.fromtimestamp(int(epoch), UTC)
        listed = "\n".join(sorted(str(part.purl) for part in parts))
        bom.serial_number = uuid5(NAMESPACE_URL, f"{about['name']} {__version__} {listed}")
    return bom


def _component(package: Package) -> Component:
    scope, _, name = package.name.rpartition("/")
    address = PackageURL(package.kind, scope or None, name, package.version)
    said = package.licences or ()
    return Component(
        type=ComponentType.LIBRARY,
        group=scope or None,
        name=name,
        version=package.version,
        purl=address,
        bom_ref=address.to_string(),
        licenses=[LicenseFactory().make_from_string(licence) for licence in said],
        external_references=[_files(package)],
    )


def _files(package: Package) -> ExternalReference:
    """Return the URL of the package in its registry, with the digests in the lock file."""
    return ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(REGISTRIES[package.kind].format(name=package.name, version=package.version)),
        hashes=[_hash(*one) for one in package.hashes],
    )


def _hash(algorithm: str, digest: str) -> HashType:
    """Return a digest in hexadecimal; digests other than SHA-256 are npm's, in Base64."""
    text = digest if algorithm == "SHA-256" else base64.b64decode(digest).hex()
    return HashType(alg=HashAlgorithm(algorithm), content=text)


def main() -> None:
    """Write the SBOM to the path on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=Path("sbom.json"))
    given = parser.parse_args()
    written = made()
    given.file.write_text(JsonV1Dot6(written).output_as_string(indent=2) + "\n")
    sys.stdout.write(f"{len(written.components)} packages in {given.file}\n")


if __name__ == "__main__":
    main()
