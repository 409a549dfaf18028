"""Headers that every answer carries beside Django's own and the Content-Security-Policy."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# None of these is used by a page of ours, so no script could be made to use it. Browsers complain
# of names they do not know, which the browser tests would see.
PERMISSIONS = ", ".join(
    f"{name}=()"
    for name in (
        *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media"),
        *("fullscreen", "geolocation", "gyroscope", "hid", "idle-detection", "magnetometer"),
        *("microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-get"),
        *("screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
    )
)


class SecurityHeaders:
    """Middleware. Static files say themselves how long they keep; nothing else is to be kept."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Stand around `get_response`."""
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer, with its headers."""
        answer = self._get_response(request)
        answer.headers.setdefault("Permissions-Policy", PERMISSIONS)
        answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer
