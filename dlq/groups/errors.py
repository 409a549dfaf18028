"""Errors of failure groups."""

from executions.errors import ValkyrError


class CannotJoin(ValkyrError):
    """These groups cannot be merged."""

    code = "cannot_merge"


class CannotSplit(ValkyrError):
    """The group cannot be split in this way."""

    code = "cannot_split"


class CannotOwn(ValkyrError):
    """The user cannot be the owner of the group."""

    code = "cannot_own"


class BadTerms(ValkyrError):
    """The conditions of a group's status change, or the text of its note, are invalid."""

    code = "bad_terms"
