"""Errors of the archive."""

from executions.public.errors import ValkyrError
from executions.public.payload_store import PayloadStoreUnavailable


class ArchiveUnavailable(PayloadStoreUnavailable):
    """The storage of the archive does not answer. Try again."""

    code = "archive_unavailable"


class ArchiveBroken(ValkyrError):
    """A file of the archive is missing or differs from what was written."""

    code = "archive_broken"


class ArchiveRefused(ValkyrError):
    """The archive cannot do this; the message says why."""

    code = "archive_refused"
