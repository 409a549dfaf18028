"""The Git commit of a folder, from the CI system's variables or from Git."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

# Variables of GitHub Actions and GitLab CI with the repository, the commit, and the branch or tag.
GITHUB = ("GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF_NAME")
GITLAB = ("CI_PROJECT_URL", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME")
SECONDS = 10


def commit_of(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the repository, commit and ref from the CI system or Git; "" for unknown values.

    Without a CI system, the commit ends with `-dirty` if the folder has uncommitted changes.
    """
    for names in (GITHUB, GITLAB):
        if environment.get(names[1]):
            repository, commit, ref = (environment.get(name, "") for name in names)
            server = environment.get("GITHUB_SERVER_URL", "")
            if server and "://" not in repository:
                repository = f"{server}/{repository}"
            return {"repository": without_password(repository), "commit": commit, "ref": ref}
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return {"repository": "", "commit": "", "ref": ""}
    changed = _git(folder, "status", "--porcelain", "--", ".")
    return {
        "repository": without_password(_git(folder, "config", "--get", "remote.origin.url")),
        "commit": f"{commit}-dirty" if changed else commit,
        "ref": _git(folder, "rev-parse", "--abbrev-ref", "HEAD"),
    }


def without_password(address: str) -> str:
    """Return a repository's address without the user name and the password."""
    parts = urlsplit(address)
    if not parts.scheme or "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(folder), *words],  # noqa: S607 - the user's Git
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
