"""Tests of one-time codes by RFC 6238, and of recovery codes."""

import base64
import re

import pytest

from valkyr_plugins.mfa import codes

# Appendix B of RFC 6238, for SHA-1; six of its eight digits.
SECRET = base64.b32encode(b"12345678901234567890").decode()
VECTORS = [
    (59, "287082"),
    (1111111109, "081804"),
    (1111111111, "050471"),
    (1234567890, "005924"),
    (2000000000, "279037"),
    (20000000000, "353130"),
]


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    assert codes.matching_step(SECRET, code, seconds, after=0) == seconds // 30


@pytest.mark.parametrize(
    ("late", "accepted"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)]
)
def test_a_clock_may_be_one_step_away(late: int, accepted: bool) -> None:
    found = codes.matching_step(SECRET, "005924", 1234567890 + late, after=0)

    assert (found is not None) is accepted


def test_a_step_that_was_accepted_and_those_before_it_are_not_again() -> None:
    step = 1234567890 // 30

    assert codes.matching_step(SECRET, "005924", 1234567890, after=step - 1) == step
    assert codes.matching_step(SECRET, "005924", 1234567890, after=step) is None
    assert codes.matching_step(SECRET, "005924", 1234567890, after=step + 1) is None


@pytest.mark.parametrize("typed", ["123 456", " 123456", "123-456", "123456\n"])
def test_a_code_may_be_typed_with_spaces_and_dashes(typed: str) -> None:
    assert codes.is_one_time_code(codes.normal(typed))


@pytest.mark.parametrize("typed", ["12345", "1234567", "12345a", "١٢٣٤٥٦", ""])
def test_other_texts_are_no_one_time_codes(typed: str) -> None:
    assert not codes.is_one_time_code(codes.normal(typed))


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 0), (9, 0), (10, 60), (11, 120), (15, 1920), (16, 3600), (999, 3600)],
)
def test_wrong_codes_in_a_row_make_the_next_one_wait(failures: int, seconds: int) -> None:
    assert codes.wait_after(failures) == seconds


def test_ten_recovery_codes_of_80_bits_are_stored_by_their_digests() -> None:
    made = codes.new_recovery_codes()

    assert len(set(made)) == 10
    assert all(re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){3}", one) for one in made)
    assert codes.digest(made[0]) == codes.digest(made[0].lower().replace("-", " "))
    assert made[0] not in "".join(codes.digests(made))


def test_the_apps_address_names_account_and_installation() -> None:
    address = codes.address_of(SECRET, "ada@example.org", "Valkyr valkyr.example.org")

    assert address.startswith("otpauth://totp/Valkyr%20valkyr.example.org:ada%40example.org?")
    assert f"secret={SECRET}" in address
