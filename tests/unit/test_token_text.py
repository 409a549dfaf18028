"""The text of API tokens: it is random, in one format, and typing errors differ from forgeries."""

from hypothesis import given
from hypothesis import strategies as st

from executions.accounts import tokens as token_text

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_a_token_is_of_the_form_that_scanners_look_for() -> None:
    tokens = {token_text.make() for _ in range(200)}

    assert len(tokens) == 200
    assert {len(token) for token in tokens} == {53}
    assert all(token.startswith("vlk_") and token_text.is_well_formed(token) for token in tokens)


@given(place=st.integers(0, 52), letter=st.sampled_from(LETTERS))
def test_one_wrong_letter_is_noticed(place: int, letter: str) -> None:
    token = token_text.make()
    changed = token[:place] + letter + token[place + 1 :]

    assert token_text.is_well_formed(changed) == (changed == token)


@given(place=st.integers(4, 51))
def test_two_letters_the_wrong_way_round_are_noticed(place: int) -> None:
    token = token_text.make()
    changed = token[:place] + token[place + 1] + token[place] + token[place + 2 :]

    assert token_text.is_well_formed(changed) == (changed == token)


@given(st.text(max_size=60))
def test_other_text_is_no_token(text: str) -> None:
    assert not token_text.is_well_formed(text)
    assert not token_text.is_well_formed(f"vlk_{text}")
