"""Create an API client from the options of a command."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from valkyr.cli.errors import missing_package
from valkyr.cli.options import Choices, target

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient


def require(package: str, what: str, extra: str = "cli") -> None:
    """Raise a CliError with the installation command if an optional package is missing."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise missing_package(error.name, extra, what) from error


@contextmanager
def connected(choices: Choices) -> Iterator["ApiClient"]:
    """Yield a client for the API of the chosen installation; close it after the block."""
    require("httpx", "Asking an installation")
    import httpx

    from valkyr import __version__
    from valkyr.cli.client import ApiClient

    if choices.local:
        from valkyr.cli.local import local_client

        with local_client(choices) as client:
            yield ApiClient(client)
        return
    where = target(choices)
    headers = {"User-Agent": f"valkyr/{__version__}", "Accept": "application/json"}
    if where.token:
        headers["Authorization"] = f"Bearer {where.token}"
    with httpx.Client(base_url=where.url, headers=headers, timeout=60) as client:
        yield ApiClient(client, token=bool(where.token))
