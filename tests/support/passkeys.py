"""A passkey in software, which answers as a browser and its device do."""

import json
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)


class SoftPasskey:
    """A key pair for one site; `uses` is its count of signatures."""

    def __init__(self, site: str = "localhost", origin: str = "http://localhost") -> None:
        self.site, self.origin = site, origin
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = sha256(str(id(self)).encode()).digest()
        self.uses = 0

    def created(self, options: dict[str, Any]) -> str:
        """Return the answer to the options for a new key."""
        flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV | AuthenticatorData.FLAG.AT
        data = AuthenticatorData.create(self._site_hash(), flags, self.uses, self.attested())
        return self._answer(
            clientDataJSON=self._client_data("webauthn.create", options),
            attestationObject=AttestationObject.create("none", data, {}),
            transports=["internal"],
        )

    def signed(self, options: dict[str, Any]) -> str:
        """Return the answer to the options for a sign-in."""
        self.uses += 1
        flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV
        data = AuthenticatorData.create(self._site_hash(), flags, self.uses)
        client = self._client_data("webauthn.get", options)
        signature = self.key.sign(data + client.hash, ec.ECDSA(SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def attested(self) -> AttestedCredentialData:
        """Return the passkey's id and public key."""
        public = ES256.from_cryptography_key(self.key.public_key())
        return AttestedCredentialData.create(Aaguid.NONE, self.id, public)

    def _site_hash(self) -> bytes:
        return sha256(self.site.encode()).digest()

    def _client_data(self, kind: str, options: dict[str, Any]) -> CollectedClientData:
        challenge = options["publicKey"]["challenge"]
        return CollectedClientData.create(type=kind, challenge=challenge, origin=self.origin)

    def _answer(self, **response: Any) -> str:
        told = {
            name: one if isinstance(one, list) else websafe_encode(bytes(one))
            for name, one in response.items()
        }
        name = websafe_encode(self.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": told})
