"""Forms on the pages of the second factor."""

from typing import Any

from django import forms

from executions.public.language import lazy

# A recovery code with spaces and dashes, and some reserve.
LONGEST_CODE = 40


class CodeForm(forms.Form):
    """A code of the app, or a recovery code."""

    code = forms.CharField(
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


class PasswordAgainForm(forms.Form):
    """The password, and a code from accounts that have a factor."""

    password = forms.CharField(
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
        label=lazy("Password"),
    )
    code = forms.CharField(
        max_length=LONGEST_CODE,
        label=lazy("Code"),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, has_factor: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_factor:
            del self.fields["code"]
