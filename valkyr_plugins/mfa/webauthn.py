"""The protocol of passkeys (WebAuthn level 2), with the library `fido2`.

The library is loaded on first use: a project that was installed without it has no passkeys.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialDescriptor

# Maximum characters of a device's response. Real responses have a few thousand.
LONGEST_ANSWER = 20_000


class BadAnswer(Exception):
    """The device's answer is malformed, or belongs to another request, site or key."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key of the account: the stored credential, and the transports of the device."""

    credential: bytes
    transports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that a device has made."""

    credential_id: bytes
    credential: bytes
    uses: int
    transports: list[str]


@dataclass(frozen=True, slots=True)
class Ceremony:
    """A registration or a sign-in at one site; `origin` is the origin of the browser's page."""

    site: str
    origin: str

    def options_to_register(
        self, user: Any, known: Iterable[KnownKey]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the browser's options to create a key, and the state to keep until its answer."""
        from fido2.webauthn import (
            PublicKeyCredentialUserEntity,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

        name = user.get_username()
        entity = PublicKeyCredentialUserEntity(
            id=sha256(f"valkyr:{user.pk}".encode()).digest(), name=name, display_name=name
        )
        options, state = self._server().register_begin(
            entity,
            _described(known),
            resident_key_requirement=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.PREFERRED,
        )
        return dict(options), dict(state)

    def registered(self, state: dict[str, Any], text: str) -> NewKey:
        """Return the key that the device made. Raises BadAnswer."""
        from fido2.webauthn import AuthenticatorTransport, RegistrationResponse

        answer = _parsed(text)
        try:
            data = self._server().register_complete(state, RegistrationResponse.from_dict(answer))
            found = data.credential_data
            assert found is not None
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as error:
            raise BadAnswer(str(error)[:200]) from error
        given = answer["response"].get("transports")
        known = {str(one.value) for one in AuthenticatorTransport}
        transports = sorted(known.intersection(map(str, given))) if isinstance(given, list) else []
        return NewKey(found.credential_id, bytes(found), data.counter, transports)

    def options_to_sign_in(
        self, known: Iterable[KnownKey]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the browser's options to use a key, and the state to keep until its answer."""
        from fido2.webauthn import UserVerificationRequirement

        options, state = self._server().authenticate_begin(
            _described(known), user_verification=UserVerificationRequirement.PREFERRED
        )
        return dict(options), dict(state)

    def signed_in(
        self, state: dict[str, Any], known: Iterable[KnownKey], text: str
    ) -> tuple[bytes, int]:
        """Return the ID of the key that signed, and its count of signatures. Raises BadAnswer."""
        from fido2.webauthn import AttestedCredentialData, AuthenticationResponse

        try:
            answer = AuthenticationResponse.from_dict(_parsed(text))
            keys = [AttestedCredentialData(bytes(one.credential)) for one in known]
            found = self._server().authenticate_complete(state, keys, answer)
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as error:
            raise BadAnswer(str(error)[:200]) from error
        return found.credential_id, answer.response.authenticator_data.counter

    def _server(self) -> "Fido2Server":
        from fido2.server import Fido2Server
        from fido2.webauthn import PublicKeyCredentialRpEntity

        entity = PublicKeyCredentialRpEntity(name=f"Valkyr {self.site}", id=self.site)
        return Fido2Server(entity, verify_origin=lambda origin: origin == self.origin)


def is_installed() -> bool:
    """Return whether the library is installed (`valkyr[mfa]`)."""
    return find_spec("fido2") is not None


def _described(known: Iterable[KnownKey]) -> "list[PublicKeyCredentialDescriptor]":
    from fido2.webauthn import (
        AttestedCredentialData,
        AuthenticatorTransport,
        PublicKeyCredentialDescriptor,
        PublicKeyCredentialType,
    )

    return [
        PublicKeyCredentialDescriptor(
            type=PublicKeyCredentialType.PUBLIC_KEY,
            id=AttestedCredentialData(bytes(one.credential)).credential_id,
            transports=[AuthenticatorTransport(name) for name in one.transports] or None,
        )
        for one in known
    ]


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if len(text) <= LONGEST_ANSWER else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("response"), dict):
        raise BadAnswer("it is not an object with a response")
    return found
