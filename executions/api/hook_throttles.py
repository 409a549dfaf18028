"""How often webhooks may be called: so much by one address, and few refusals."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView


class ByHook(SimpleRateThrottle):
    """So many requests a minute to one webhook from one address."""

    scope = "webhook"

    def get_rate(self) -> str:
        """The rate in the framework's words."""
        return f"{settings.WEBHOOK_REQUESTS_PER_MINUTE}/min"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        """The webhook and the peer's address; nobody else can use up a sender's share."""
        return f"valkyr:webhook:{view.kwargs['triggerId']}:{request.META.get('REMOTE_ADDR', '')}"


class Refusals(SimpleRateThrottle):
    """So many refusals a minute for one address; what is accepted is not counted."""

    scope = "webhook refusals"
    rate = "60/min"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        """The peer's address; a forwarded one could be made up by the caller."""
        return f"valkyr:webhook-refusals:{request.META.get('REMOTE_ADDR', '')}"

    def throttle_success(self) -> bool:
        """Let it pass; `count` is called when it turns out to be refused."""
        return True

    def count(self) -> None:
        """Remember a refusal."""
        self.history.insert(0, self.now)
        self.cache.set(self.key, self.history, 60)
