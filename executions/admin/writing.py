"""Forms that write through the functions that the API calls, and tell what those refuse."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect

from executions.admin.engine import ScopedAdmin
from executions.errors import ValkyrError, WithProblems


class WritingAdmin(ScopedAdmin):
    """Rows that people add and change in a form; `write` does it.

    A page that writes so leaves recording to the function it calls.
    """

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Any:
        """Make or change the row, and return it; raises ValkyrError."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Write by `write`; the page and the message that follow are the row's."""
        obj.__dict__ |= self.write(request, obj, form, change).__dict__

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """As Django's; what is refused is told, not a crash."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ValkyrError as error:
            found = error.problems if isinstance(error, WithProblems) else []
            text = " ".join(problem.message for problem in found) or error.message
            self.message_user(request, text, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
