"""The public names of Valkyr. Everything else is private and may move."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _version() -> str:
    try:
        return version("valkyr")
    except PackageNotFoundError:  # a checkout that nobody installed
        project = Path(__file__).parents[1] / "pyproject.toml"
        return str(tomllib.loads(project.read_text())["project"]["version"])


__version__ = _version()
