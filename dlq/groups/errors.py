"""Errors of failure groups."""

from executions.errors import ValkyrError


class CannotJoin(ValkyrError):
    """These groups cannot be merged."""

    code = "cannot_merge"


class CannotSplit(ValkyrError):
    """The group cannot be split in this way."""

    code = "cannot_split"


class CannotOwn(ValkyrError):
    """That person cannot own the group."""

    code = "cannot_own"


class BadTerms(ValkyrError):
    """A group cannot be snoozed or resolved on these terms."""

    code = "bad_terms"
