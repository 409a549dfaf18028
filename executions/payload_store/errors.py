"""Errors of stored values."""

from executions.errors import ValkyrError


class PayloadStoreUnavailable(ValkyrError):
    """The store of large values does not answer. The step is tried again."""

    code = "payload_store_unavailable"


class StoredValueBroken(ValkyrError):
    """A stored value is missing or differs from its digest. Restore it from a backup."""

    code = "stored_value_broken"


class StoredValueTooLarge(ValkyrError):
    """A stored value is larger than VALKYR_PAYLOAD_LOAD_LIMIT. Raise this limit."""

    code = "stored_value_too_large"
