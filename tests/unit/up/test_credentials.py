"""Secrets are generated once, stored privately, and never overwritten."""

import base64
import stat
from pathlib import Path

import pytest

from valkyr_project.up.environment import KEY_FILE, SECRETS_FILE, load
from valkyr_project.up.options import UpError


def test_secrets_are_made_once_and_only_the_owner_may_read_them(tmp_path: Path) -> None:
    first = load(tmp_path, {})

    assert load(tmp_path, {}) == first
    assert stat.S_IMODE((tmp_path / SECRETS_FILE).stat().st_mode) == 0o600
    assert len(first.secret_key) >= 50
    assert len({first.secret_key, first.password, first.flower_password}) == 3


def test_a_file_made_readable_by_others_is_closed_again(tmp_path: Path) -> None:
    load(tmp_path, {})
    (tmp_path / SECRETS_FILE).chmod(0o644)

    load(tmp_path, {})

    assert stat.S_IMODE((tmp_path / SECRETS_FILE).stat().st_mode) == 0o600


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("VALKYR_SECRET_KEY=known to an attacker\n")
    (tmp_path / SECRETS_FILE).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UpError, match="regular file"):
        load(tmp_path, {})


def test_what_the_environment_gives_is_used_and_not_stored(tmp_path: Path) -> None:
    given = load(tmp_path, {"VALKYR_ADMIN_USERNAME": "ada", "VALKYR_ADMIN_PASSWORD": "mine"})

    assert (given.username, given.password, given.password_is_ours) == ("ada", "mine", False)
    assert "mine" not in (tmp_path / SECRETS_FILE).read_text()


def test_a_secret_added_by_a_later_version_joins_the_kept_ones(tmp_path: Path) -> None:
    (tmp_path / SECRETS_FILE).write_text("VALKYR_SECRET_KEY=" + "k" * 50 + "\n")

    loaded = load(tmp_path, {})

    assert loaded.secret_key == "k" * 50
    assert loaded.flower_password


@pytest.mark.parametrize(
    "given", [{"VALKYR_ADMIN_USERNAME": "a:b"}, {"FLOWER_PASSWORD": "one,two"}]
)
def test_names_and_passwords_flower_would_misread_are_refused(
    tmp_path: Path, given: dict[str, str]
) -> None:
    with pytest.raises(UpError, match="no comma"):
        load(tmp_path, given)


def test_the_key_of_secrets_is_made_once_in_a_file_of_its_own(tmp_path: Path) -> None:
    made = load(tmp_path, {}).key_file
    assert made == tmp_path.resolve() / KEY_FILE
    key = made.read_text()
    made.chmod(0o644)

    load(tmp_path, {})

    assert made.read_text() == key
    assert len(base64.b64decode(key)) == 32
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert key.strip() not in (tmp_path / SECRETS_FILE).read_text()


@pytest.mark.parametrize("name", ["VALKYR_KEY", "VALKYR_KEY_FILE", "VALKYR_KEY_URI"])
def test_no_key_is_made_where_the_environment_names_one(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, {name: "something"}).key_file is None
    assert not (tmp_path / KEY_FILE).exists()


def test_a_link_in_place_of_the_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("known to an attacker")
    (tmp_path / KEY_FILE).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UpError, match="regular file"):
        load(tmp_path, {})
