"""Errors of sealing and opening values; no message contains content or a key."""

from executions.errors import ValkyrError


class SealingError(ValkyrError):
    """Sealing does not work now. An administrator must check the server's key."""

    code = "sealing_unavailable"


class NoInstallationKey(SealingError):
    """No installation key is set: set VALKYR_KEY_FILE, VALKYR_KEY or VALKYR_KEY_URI."""

    code = "no_installation_key"


class WrongInstallationKey(SealingError):
    """The installation's key is not the one that sealed the data keys."""

    code = "wrong_installation_key"


class KeyUnavailable(SealingError):
    """The key management service did not fulfil the request."""

    code = "key_unavailable"


class SealBroken(SealingError):
    """A sealed value cannot be opened: it was changed or moved, or its key is missing."""

    code = "seal_broken"


class KeyUnknown(SealBroken):
    """The value is sealed with a key that the keyset does not have."""


class KeysetChanged(SealingError):
    """Another process changed the keyset in the meantime; check it and try again."""

    code = "keyset_changed"


class StillSealing(SealingError):
    """The key still seals values, so it cannot be removed."""

    code = "still_sealing"
