"""Why a sign-in ended without a session; each says what the person can do."""

from django.core.exceptions import PermissionDenied


class Refused(PermissionDenied):
    """The provider knows the person, but this installation does not let them in."""


class ProviderTrouble(Exception):
    """The provider could not be reached, or said something that cannot be believed.

    The message is for the log: it may name addresses and claims, never a token.
    """
