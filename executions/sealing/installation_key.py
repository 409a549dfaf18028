"""The installation's key, which seals keysets: AES-256-GCM in this process, or in a KMS."""

import base64
import binascii
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured

from executions.configuration import settings as valkyr_settings
from executions.sealing.errors import NoInstallationKey

# The source of the installation key: a file, the environment, or a key management service.
#
# Exactly one of three variables names it. A second set of three, with `OLD`, names the previous
# key, which opens what the current key cannot open while an installation changes its key.


KEY_BYTES = 32
KMS = "aws-kms://arn:aws:kms:"
PRESENT = ("VALKYR_KEY_FILE", "VALKYR_KEY", "VALKYR_KEY_URI")
OLD = ("VALKYR_KEY_OLD_FILE", "VALKYR_KEY_OLD", "VALKYR_KEY_OLD_URI")
MAKE_ONE = "Create one with `openssl rand -base64 32`."


@dataclass(frozen=True, slots=True)
class KeySource:
    """One installation key.

    `uri` is its public name: `file`, `env`, or a KMS key's URI. `material` is the 32-byte key; None
    for a key in a KMS.
    """

    variable: str
    uri: str
    material: bytes | None = field(repr=False)


def present() -> KeySource | None:
    """Return the installation's key, or None if none is set. Raises ImproperlyConfigured."""
    return _only_one(PRESENT)


def old() -> KeySource | None:
    """Return the previous installation key; None if none is set. Raises ImproperlyConfigured."""
    return _only_one(OLD)


def _only_one(variables: tuple[str, str, str]) -> KeySource | None:
    values = _values()
    given = [name for name in variables if values[name]]
    if not given:
        return None
    if len(given) > 1:
        raise ImproperlyConfigured(
            f"{' and '.join(given)} are set; expected exactly one of {', '.join(variables)}."
        )
    by_file, by_text, _ = variables
    name = given[0]
    if name == by_file:
        return KeySource(name, "file", _decoded(name, _private_text(name, Path(values[name]))))
    if name == by_text:
        return KeySource(name, "env", _decoded(name, values[name]))
    uri = values[name]
    if not uri.startswith(KMS):
        raise ImproperlyConfigured(f"{name} is {uri!r}; expected the URI of a key, {KMS}….")
    return KeySource(name, uri, None)


def _values() -> dict[str, str]:
    chosen = valkyr_settings()
    return {
        "VALKYR_KEY_FILE": chosen.key_file,
        "VALKYR_KEY": chosen.key.get_secret_value(),
        "VALKYR_KEY_URI": chosen.key_uri,
        "VALKYR_KEY_OLD_FILE": chosen.key_old_file,
        "VALKYR_KEY_OLD": chosen.key_old.get_secret_value(),
        "VALKYR_KEY_OLD_URI": chosen.key_old_uri,
    }


def _private_text(name: str, path: Path) -> str:
    """Return a private, regular file's text. Raises ImproperlyConfigured for any other file."""
    try:
        with path.open() as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise ImproperlyConfigured(f"{name}: {path} is not a regular file.")
            if facts.st_uid not in {os.geteuid(), 0} or facts.st_mode & 0o077:
                raise ImproperlyConfigured(
                    f"{name}: {path} has mode {stat.S_IMODE(facts.st_mode):04o} and owner "
                    f"{facts.st_uid}; expected a file that only this process's user "
                    f"({os.geteuid()}) can read: `chown` it and `chmod 600` it."
                )
            return file.read(1000)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ImproperlyConfigured(f"{name}: {path} cannot be read: {reason}.") from None


def _decoded(name: str, text: str) -> bytes:
    try:
        material = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise ImproperlyConfigured(
            f"{name} does not contain base64 text; expected {KEY_BYTES} random bytes in base64. "
            f"{MAKE_ONE}"
        ) from None
    if len(material) != KEY_BYTES:
        raise ImproperlyConfigured(
            f"{name} holds {len(material)} bytes; expected {KEY_BYTES} in base64. {MAKE_ONE}"
        )
    return material


class Aead(Protocol):
    """Tink's interface for authenticated encryption."""

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Return the encrypted bytes, which open only with the same `associated_data`."""

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Return the decrypted bytes. Raises TinkError if one of the arguments was changed."""


def required() -> KeySource:
    """Return the installation's current key. Raises NoInstallationKey or ImproperlyConfigured."""
    source = present()
    if source is None:
        raise NoInstallationKey(
            "Secrets cannot be stored: no installation key is set. Set one of "
            f"{', '.join(PRESENT)} for every process. {MAKE_ONE}"
        )
    for package, extra in (
        ("tink", "credentials"),
        *([] if source.material else [("boto3", "kms")]),
    ):
        if find_spec(package) is None:
            raise ImproperlyConfigured(
                f"{source.variable} names a key, but the required Python package {package!r} "
                f"is not installed: pip install 'valkyr[{extra}]'"
            )
    return source


def openers() -> Iterator[KeySource]:
    """Yield the keys that may have sealed a keyset, the current one first.

    Raises NoInstallationKey or ImproperlyConfigured.
    """
    yield required()
    if (former := old()) is not None:
        yield former


def aead_of(source: KeySource) -> Aead:
    """Return the key's AEAD. Raises KeyUnavailable for an invalid KMS address or AWS set-up."""
    if source.material is None:
        from executions.sealing.kms import kms_aead  # boto3 takes a second to import

        return kms_aead(source.uri)
    return aes_gcm(source.material)


def aes_gcm(material: bytes) -> Aead:
    """Return Tink's AES-256-GCM for a raw key."""
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
