"""The profile file: named installations with addresses and tokens. Only its owner can read it."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valkyr.cli.errors import usage

NAME = re.compile(r"[A-Za-z0-9_-]{1,60}\Z")
HEADER = "# Written by `valkyr login`. It contains tokens: do not share it.\n"


@dataclass
class ConnectionProfile:
    """The address and the token of one installation; `logout` uses `token_id`."""

    url: str
    token: str = ""
    token_id: str = ""


@dataclass
class ProfileFile:
    """The profiles by name, and the name of the default one."""

    default: str = ""
    profiles: dict[str, ConnectionProfile] = field(default_factory=dict)


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `VALKYR_CONFIG`, or `valkyr/config.toml` in the XDG configuration folder."""
    if given := environment.get("VALKYR_CONFIG"):
        return Path(given).expanduser()
    base = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "valkyr" / "config.toml"


def load(path: Path) -> ProfileFile:
    """Return the profiles in the file; no profiles if there is no file.

    Raises CliError if the file is invalid.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ProfileFile()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise usage(f"{path} cannot be read: {error}.", "Fix it, or delete it.") from None
    rows = found.get("profiles", {})
    if not isinstance(rows, dict) or not all(_fits(row) for row in rows.values()):
        raise usage(
            f"{path} is not a profile file.",
            'Expected tables such as [profiles.work] with url = "https://…" and token = "vlk_…".',
        )
    known = {name: ConnectionProfile(**_known(row)) for name, row in rows.items()}
    return ProfileFile(str(found.get("default", "")), known)


def save(path: Path, file: ProfileFile) -> None:
    """Replace the file atomically. Only the owner can read the file and a newly created folder."""
    lines = [HEADER]
    if file.default:
        lines.append(f"default = {json.dumps(file.default)}\n")
    for name, profile in sorted(file.profiles.items()):
        lines.append(f"\n[profiles.{name}]\n")
        lines += [f"{k} = {json.dumps(v)}\n" for k, v in vars(profile).items() if v]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:  # noqa: PTH123 - of a descriptor
        out.write("".join(lines))
    beside.replace(path)


def check_name(name: str) -> str:
    """Return `name` if it is valid for a profile; otherwise raise CliError."""
    if not NAME.match(name):
        raise usage(f"{name!r} is not a valid profile name.", "Use letters, digits, _ and -.")
    return name


def _fits(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("url"), str)
        and all(isinstance(value, str) for value in row.values())
    )


def _known(row: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in row.items() if key in {"url", "token", "token_id"}}
