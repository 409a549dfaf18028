"""Check the address of the archive, and the libraries that it needs."""

from importlib.util import find_spec
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from valkyr_plugins.archive.conf import chosen


@register()
def archive_opens(**_: Any) -> list[CheckMessage]:
    """If VALKYR_ARCHIVE is set, check that pyarrow is installed and fsspec opens the scheme."""
    try:
        address = chosen().archive
    except ImproperlyConfigured:
        return []  # the check of all settings reports the error
    if not address:
        return []
    if find_spec("pyarrow") is None or find_spec("fsspec") is None:
        return [
            Error(
                "VALKYR_ARCHIVE is set, but pyarrow or fsspec is not installed.",
                hint="pip install valkyr[archive], or unset VALKYR_ARCHIVE.",
                id="valkyr.E050",
            )
        ]
    from fsspec import get_filesystem_class

    scheme = address.partition("://")[0]
    try:
        get_filesystem_class(scheme)
    except (ImportError, ValueError) as error:
        return [
            Error(
                f"VALKYR_ARCHIVE begins with {scheme}://, which fsspec cannot open: {error}",
                hint="Use s3:// (pip install valkyr[s3]), file://, or install fsspec's library "
                "for the scheme. `manage.py valkyr_archive check` then tries it.",
                id="valkyr.E051",
            )
        ]
    return []
