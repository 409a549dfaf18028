"""The admin's form for a name and a password; tries count with those for API tokens."""

from typing import Any

from django.core.exceptions import ValidationError
from unfold.forms import AuthenticationForm

from executions.admission import rates


class PasswordForm(AuthenticationForm):
    """Signs in staff, unless there were too many tries from the address or with the name."""

    def clean(self) -> Any:
        """Count first: a password that is right must not be told from a wrong one by trying on."""
        address = "" if self.request is None else str(self.request.META.get("REMOTE_ADDR", ""))
        excess = rates.count(rates.of_sign_in(address, self.cleaned_data.get("username")))
        if excess is not None:
            raise ValidationError(str(excess), code="throttled")
        return super().clean()
