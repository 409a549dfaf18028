"""The sources of the installation's key, and the rejected ones."""

import base64
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.sealing import NoInstallationKey, installation_key
from executions.sealing.installation_key import required

KEY = base64.b64encode(bytes(range(32))).decode()
ARN = "aws-kms://arn:aws:kms:eu-central-1:111122223333:key/1234"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*installation_key.PRESENT, *installation_key.OLD):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


def test_no_key_is_fine_until_one_is_needed() -> None:
    assert installation_key.present() is None
    with pytest.raises(NoInstallationKey, match="VALKYR_KEY_FILE, VALKYR_KEY, VALKYR_KEY_URI"):
        required()


def test_a_key_may_come_from_a_file_the_environment_or_a_kms(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    found = []
    for name, value in zip(installation_key.PRESENT, (str(file), KEY, ARN), strict=True):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            source = installation_key.present()
            assert source is not None
            found.append((source.uri, source.material))

    assert found == [("file", bytes(range(32))), ("env", bytes(range(32))), (ARN, None)]


def test_a_source_never_shows_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_KEY", KEY)

    assert KEY not in repr(installation_key.present())
    assert "material" not in repr(installation_key.present())


def test_more_than_one_is_refused(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setenv("VALKYR_KEY", KEY)
    monkeypatch.setenv("VALKYR_KEY_FILE", str(file))

    with pytest.raises(ImproperlyConfigured, match="VALKYR_KEY_FILE and VALKYR_KEY are set"):
        installation_key.present()


def test_the_old_key_has_variables_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_KEY_OLD", KEY)

    assert installation_key.present() is None
    old = installation_key.old()
    assert old is not None
    assert old.variable == "VALKYR_KEY_OLD"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_file_that_others_may_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, file: Path, mode: int
) -> None:
    file.chmod(mode)
    monkeypatch.setenv("VALKYR_KEY_FILE", str(file))

    with pytest.raises(ImproperlyConfigured, match=f"mode {mode:04o}.*chmod 600") as error:
        installation_key.present()

    assert KEY not in str(error.value)


def test_a_file_that_is_missing_or_no_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for path in (tmp_path / "none", tmp_path):
        monkeypatch.setenv("VALKYR_KEY_FILE", str(path))
        with pytest.raises(ImproperlyConfigured, match=f"VALKYR_KEY_FILE: {path}"):
            installation_key.present()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no base64!", "does not contain base64"),
        (base64.b64encode(bytes(16)).decode(), "16 bytes; expected 32"),
        (base64.b64encode(bytes(33)).decode(), "33 bytes"),
        ("ü" * 44, "does not contain base64"),
    ],
)
def test_a_key_of_another_form_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch, file: Path, text: str, reason: str
) -> None:
    monkeypatch.setenv("VALKYR_KEY", text)
    with pytest.raises(ImproperlyConfigured, match=reason) as error:
        installation_key.present()
    assert text not in str(error.value)

    monkeypatch.delenv("VALKYR_KEY")
    file.write_text(text)
    monkeypatch.setenv("VALKYR_KEY_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match=reason):
        installation_key.present()


@pytest.mark.parametrize("uri", ["gcp-kms://projects/x", "arn:aws:kms:x", "aws-kms://alias/x"])
def test_another_kms_is_refused(monkeypatch: pytest.MonkeyPatch, uri: str) -> None:
    monkeypatch.setenv("VALKYR_KEY_URI", uri)

    with pytest.raises(ImproperlyConfigured, match="expected the URI of a key"):
        installation_key.present()
