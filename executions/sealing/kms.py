"""A key in AWS KMS that seals keysets; the key itself never leaves the service.

boto3 takes its credentials from its own variables (`AWS_PROFILE` and so on) or the machine's role,
and the service's address from `AWS_ENDPOINT_URL_KMS` or the region in the key's ARN.
"""

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from executions.sealing.errors import KeyUnavailable, WrongInstallationKey
from executions.sealing.installation_key import Aead

PREFIX = "aws-kms://"
CONNECT_SECONDS = 2
ANSWER_SECONDS = 3
TRIES = 2
# Error codes of KMS for a value that another key sealed.
_ANOTHER = {"InvalidCiphertextException", "IncorrectKeyException"}


def kms_aead(uri: str) -> Aead:
    """Return Tink's AEAD for the KMS key `aws-kms://<arn>`. Raises KeyUnavailable."""
    import tink
    from tink.integration import awskms

    try:
        client = boto3.session.Session(region_name=uri.split(":")[4]).client(
            "kms",
            config=Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=ANSWER_SECONDS,
                retries={"total_max_attempts": TRIES},
            ),
        )
        made: Any = awskms.new_client(boto3_client=client, key_uri=uri).get_aead(uri)
    except (BotoCoreError, IndexError, ValueError, tink.TinkError) as error:
        raise _unavailable(uri, error) from error
    return _Told(made, uri)


class _Told:
    """An AEAD whose errors explain what to do."""

    def __init__(self, inner: Aead, uri: str) -> None:
        self._inner = inner
        self._uri = uri

    def encrypt(self, plaintext: bytes, associated_data: bytes) -> bytes:
        """Return the encrypted bytes. Raises KeyUnavailable."""
        return self._ask(self._inner.encrypt, plaintext, associated_data)

    def decrypt(self, ciphertext: bytes, associated_data: bytes) -> bytes:
        """Return the decrypted bytes. Raises WrongInstallationKey or KeyUnavailable."""
        return self._ask(self._inner.decrypt, ciphertext, associated_data)

    def _ask(self, question: Any, data: bytes, associated_data: bytes) -> bytes:
        import tink

        try:
            answer: bytes = question(data, associated_data)
        except (tink.TinkError, BotoCoreError) as error:
            if _code(error) in _ANOTHER:
                raise WrongInstallationKey(f"{self._uri} did not seal this keyset.") from error
            raise _unavailable(self._uri, error) from error
        return answer


def _code(error: Exception) -> str:
    """Return the service's own error code, which Tink wraps; "" if there is none."""
    inner = error.args[0] if error.args else None
    if not isinstance(inner, ClientError):
        return ""
    return str(inner.response.get("Error", {}).get("Code", ""))


def _unavailable(uri: str, error: Exception) -> KeyUnavailable:
    said = _code(error) or type(error).__name__
    return KeyUnavailable(
        f"The KMS key {uri} cannot be used: {said}. Check that the service answers, that the "
        "key is enabled, and that this process may use it (kms:Encrypt, kms:Decrypt)."
    )
