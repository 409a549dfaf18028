"""The settings of sign-in with a second factor."""

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator

from executions.public.configuration import Flag, SettingsModel, setting

SINGLE_SIGN_ON = "valkyr_plugins.sso.backends.SingleSignOnBackend"


def _paths(value: Any) -> Any:
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(words) if isinstance(words, list | tuple) else words


class MfaSettings(SettingsModel):
    """Settings of the plugin `mfa`, which asks for a second factor in addition to the password.

    The factor is a passkey, or a code from an authenticator app. [Second
    factor](../explanation/security.md#second-factor) explains which users need a factor, and when.
    """

    title: ClassVar[str] = "Second factor"

    mfa_required: Flag = setting(
        False,
        "Whether users who sign in with a password need a second factor; without one, they can "
        "open only the page to set it up, and their sessions cannot use the API",
    )
    mfa_trusted_backends: Annotated[tuple[str, ...], BeforeValidator(_paths)] = setting(
        (SINGLE_SIGN_ON,),
        "Dotted paths, separated by commas, of authentication backends that themselves ask for a "
        "second factor. Valkyr itself does not ask for a second factor after a sign-in through "
        "these backends",
        unset="the plugin `sso`",
    )
    recent_sign_in_minutes: float = setting(
        15,
        "Time after a browser sign-in during which a user can see secrets and change, for example, "
        "credentials, tokens and roles "
        "([all these actions](../explanation/security.md#second-factor)). After this time, these "
        "actions require another sign-in. 0: no limit",
        unit="minutes",
        ge=0,
    )
