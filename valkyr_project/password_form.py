"""The admin's sign-in form, with a user name and a password.

Attempts are counted together with attempts to sign in to the API.
"""

from typing import Any

from django.core.exceptions import ValidationError
from unfold.forms import AuthenticationForm

from executions.admission import rates


class PasswordForm(AuthenticationForm):
    """Signs in staff, unless there were too many attempts from the address or for the user name."""

    def clean(self) -> Any:
        """Count the attempt, then check the password. Either can raise ValidationError."""
        address = "" if self.request is None else str(self.request.META.get("REMOTE_ADDR", ""))
        excess = rates.count(rates.of_sign_in(address, self.cleaned_data.get("username")))
        if excess is not None:
            raise ValidationError(str(excess), code="throttled")
        return super().clean()
