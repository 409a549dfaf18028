"""Forms for the pages of the second factor."""

from typing import Any

from django import forms

from executions.public.language import lazy

# Maximum characters of a recovery code with spaces and dashes, with some reserve.
LONGEST_CODE = 40


# Maximum characters of a device's response: JSON with its signature and further data.
LONGEST_ANSWER = 20_000
GIVE_A_CODE = lazy("Enter a code.")


def _answer() -> forms.CharField:
    """Return the hidden input for a passkey's answer, which a script fills in."""
    return forms.CharField(
        required=False, max_length=LONGEST_ANSWER, strip=False, widget=forms.HiddenInput
    )


class CodeForm(forms.Form):
    """Asks for a code from the app, a recovery code, or a passkey."""

    passkey = _answer()
    code = forms.CharField(
        required=False,
        max_length=LONGEST_CODE,
        label=lazy("Code"),
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "autofocus": True,
                "spellcheck": "false",
                "autocapitalize": "off",
            }
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Require a code or a passkey."""
        return _one_of(self)


class PasskeyForm(forms.Form):
    """Asks for the name of a new passkey; a script adds the device's answer."""

    passkey = _answer()
    name = forms.CharField(
        max_length=100,
        label=lazy("Name"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )


class PasswordAgainForm(forms.Form):
    """Asks for the password, and for a code or a passkey if the account has a factor."""

    passkey = _answer()

    password = forms.CharField(
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
        label=lazy("Password"),
    )
    code = forms.CharField(
        required=False,
        max_length=LONGEST_CODE,
        label=lazy("Code"),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, has_factor: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_factor:
            del self.fields["code"], self.fields["passkey"]

    def clean(self) -> dict[str, Any]:
        """Require a code or a passkey if the account has a factor."""
        return _one_of(self)


def _one_of(form: forms.Form) -> dict[str, Any]:
    data = form.cleaned_data
    asked = "code" in form.fields and "code" not in form.errors
    if asked and not (data.get("code") or data.get("passkey")):
        form.add_error("code", GIVE_A_CODE)
    return data
