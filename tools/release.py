"""Build the files of a release twice, and write them only if both builds are equal.

`python -m tools.release` writes the source distribution, the wheel, the SBOM and SHA256SUMS of the
commit HEAD to dist/. The two builds differ in folder, time zone, umask and hash seed, so that a
file that depends on these is found. Uncommitted changes are not built. `--compare FOLDER` also
compares the result with the files of a published release.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[1]
CONSTRAINTS = "requirements-build.txt"  # the build backend, with hashes
SUMS = "SHA256SUMS"
VERSION = re.compile(r'^__version__ = "([^"]+)"', re.MULTILINE)
# Variables that must not affect the result, so each build has different values.
SURROUNDINGS: tuple[Mapping[str, str], ...] = (
    {"TZ": "UTC", "PYTHONHASHSEED": "1"},
    {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2"},
)
UMASKS = (0o022, 0o077)


class ReleaseError(Exception):
    """The release cannot be built; the message says why and what to do."""


def build(commit: str, out: Path, epoch: str = "") -> list[Path]:
    """Build the files of a commit into a folder, with their checksums. Raises ReleaseError.

    `epoch` is the time in all files, in seconds since 1970; by default, the commit's time.
    """
    epoch = epoch or _git("show", "-s", "--format=%ct", commit).strip()
    with tempfile.TemporaryDirectory(prefix="valkyr-release-") as scratch:
        folders = [Path(scratch, name) for name in ("one", "the-second-build")]
        for folder, given, mask in zip(folders, SURROUNDINGS, UMASKS, strict=True):
            _build_once(commit, folder, {**given, "SOURCE_DATE_EPOCH": epoch}, mask)
        first, second = (_files(folder / "dist") for folder in folders)
        if differing := different(first, second):
            raise ReleaseError(
                "The build is not reproducible. Two builds of the same commit differ in:\n"
                + "\n".join(differing)
            )
        out.mkdir(parents=True, exist_ok=True)
        made = [Path(shutil.copyfile(path, out / name)) for name, path in first.items()]
    sums = out / SUMS
    sums.write_text("".join(f"{_digest(path)}  {path.name}\n" for path in sorted(made)))
    return [*made, sums]


def different(ours: Mapping[str, Path], theirs: Mapping[str, Path]) -> list[str]:
    """Return a line for each file that differs between two builds, with the differences."""
    lines = []
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            lines.append(f"{name}: only one build has it")
        elif _digest(ours[name]) != _digest(theirs[name]):
            lines.append(f"{name}: {_difference(ours[name], theirs[name])}")
    return lines


def published(folder: Path) -> dict[str, Path]:
    """Return the files of a release in a folder, without checksums and signatures."""
    endings = (".whl", ".tar.gz", ".cdx.json")
    return {path.name: path for path in folder.iterdir() if path.name.endswith(endings)}


def version_of(commit: str) -> str:
    """Return the version that the commit's package has. Raises ReleaseError."""
    found = VERSION.search(_git("show", f"{commit}:valkyr/__init__.py"))
    if found is None:
        raise ReleaseError('valkyr/__init__.py has no line __version__ = "…".')
    return found[1]


def _build_once(commit: str, folder: Path, given: Mapping[str, str], mask: int) -> None:
    """Build one time, from the commit's files in a separate folder."""
    source, out = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = folder / "source.tar"
    _git("archive", "--output", str(archive), commit)
    with tarfile.open(archive) as packed:
        packed.extractall(source, filter="data")
    environment = {**os.environ, **given}
    environment.pop("PYTHONPATH", None)
    constraints = source / CONSTRAINTS
    if not constraints.is_file():
        raise ReleaseError(f"The commit {commit} has no {CONSTRAINTS}: run make lock, and commit.")
    options = ("--quiet", "--no-config", "--require-hashes", "--build-constraints", constraints)
    _run(["uv", "build", *options, "--sdist", "--out-dir", out, source], environment, mask)
    (sdist,) = out.glob("*.tar.gz")
    _run(["uv", "build", *options, "--wheel", "--out-dir", out, sdist], environment, mask)
    bom = out / f"{sdist.name.removesuffix('.tar.gz')}.cdx.json"
    _run(["tools.sbom", bom], environment, mask, cwd=source)
    (out / ".gitignore").unlink(missing_ok=True)


def _run(
    module: list[str | Path], environment: Mapping[str, str], mask: int, cwd: Path | None = None
) -> None:
    done = subprocess.run(  # noqa: S603 - our own commands
        [sys.executable, "-m", *map(str, module)],
        cwd=cwd or PROJECT,
        env=dict(environment),
        umask=mask,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, module[:2]))} failed:\n{done.stderr[-3000:]}")


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        ["git", *arguments],  # noqa: S607 - found on the PATH, as for everyone who builds
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.iterdir())}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _difference(ours: Path, theirs: Path) -> str:
    """Return the members that differ between two archives.

    If only the compression differs, return a sentence that says so.
    """
    one, other = _members(ours), _members(theirs)
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    if not names:
        return "the same contents, packed otherwise (another Python or zlib)"
    more = f" and {len(names) - 10} others" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def _members(path: Path) -> dict[str, str]:
    """Return the digest of each member of an archive; of another file, the file's own digest."""
    found: dict[str, str] = {}
    if path.name.endswith(".whl"):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                found[name] = hashlib.sha256(wheel.read(name)).hexdigest()
    elif path.name.endswith(".tar.gz"):
        with tarfile.open(path) as sdist:
            for member in sdist.getmembers():
                content = sdist.extractfile(member) if member.isfile() else None
                data = b"" if content is None else content.read()
                found[member.name] = hashlib.sha256(data).hexdigest()
    else:
        found[path.name] = _digest(path)
    return found


def _released(given: argparse.Namespace) -> list[Path]:
    version = version_of(given.commit)
    if given.tag and given.tag != f"v{version}":
        raise ReleaseError(f"The tag is {given.tag}, but valkyr.__version__ is {version}.")
    made = build(given.commit, given.out, os.environ.get("SOURCE_DATE_EPOCH", ""))
    if given.compare:
        differing = different(published(given.out), published(given.compare))
        if differing:
            raise ReleaseError(f"{given.compare} differs in:\n" + "\n".join(differing))
    return made


def main() -> None:
    """Build the files and print their checksums; exit with the message of a ReleaseError."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder to write to")
    parser.add_argument("--commit", default="HEAD", help="the commit to build")
    parser.add_argument("--tag", default="", help="fail unless the version is that of this tag")
    parser.add_argument("--compare", type=Path, help="a folder with the files of a release")
    given = parser.parse_args()
    try:
        made = _released(given)
    except ReleaseError as error:
        sys.exit(str(error))
    sys.stdout.write((given.out / SUMS).read_text())
    equal = f", and equal to {given.compare}" if given.compare else ""
    sys.stdout.write(f"{len(made)} files in {given.out}, equal in two builds{equal}\n")


if __name__ == "__main__":
    main()
