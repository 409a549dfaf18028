"""The installation's key as something that seals keysets: AES-256-GCM here, or a KMS's own."""

from collections.abc import Iterator
from typing import Any, Protocol

from executions.sealing import sources
from executions.sealing.errors import NoInstallationKey
from executions.sealing.sources import KeySource


class Aead(Protocol):
    """Tink's interface of authenticated encryption."""

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Seal."""

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Open; raises TinkError."""


def required() -> KeySource:
    """The installation's present key; raises NoInstallationKey, ImproperlyConfigured."""
    source = sources.present()
    if source is None:
        raise NoInstallationKey(
            "Nothing secret can be kept: no installation key is set. Set one of "
            f"{', '.join(sources.PRESENT)} for every process. {sources.MAKE_ONE}"
        )
    return source


def openers() -> Iterator[KeySource]:
    """The keys a keyset may be sealed with, the present one first; raises NoInstallationKey."""
    yield required()
    if (former := sources.old()) is not None:
        yield former


def aead_of(source: KeySource) -> Aead:
    """What seals with the key; raises KeyUnavailable where a KMS cannot be asked."""
    if source.material is None:
        from executions.sealing.kms import kms_aead  # boto3 takes a second to import

        return kms_aead(source.uri)
    return _aes_gcm(source.material)


def _aes_gcm(material: bytes) -> Aead:
    """AES-256-GCM under a raw key, by Tink."""
    import tink
    from tink import aead, proto_keyset_format, secret_key_access
    from tink.proto import aes_gcm_pb2, tink_pb2

    aead.register()
    key = tink_pb2.Keyset.Key(
        key_data=tink_pb2.KeyData(
            type_url=aead.aead_key_templates.AES256_GCM.type_url,
            value=aes_gcm_pb2.AesGcmKey(key_value=material).SerializeToString(),
            key_material_type=tink_pb2.KeyData.SYMMETRIC,
        ),
        status=tink_pb2.ENABLED,
        key_id=1,
        output_prefix_type=tink_pb2.RAW,
    )
    keyset = tink_pb2.Keyset(primary_key_id=1, key=[key])
    handle: tink.KeysetHandle = proto_keyset_format.parse(
        keyset.SerializeToString(), secret_key_access.TOKEN
    )
    made: Any = handle.primitive(aead.Aead)
    return made  # type: ignore[no-any-return]
