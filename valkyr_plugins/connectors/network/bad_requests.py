"""What goes wrong with HTTP requests, and how it is told; the rows of `http.request`."""

from runners.public.modules import Bad, ErrorType

NOWHERE = "https://api.example.com/"
BAD_REQUESTS = (
    Bad("an address of another scheme", {"url": "file:///etc/passwd"}, "http:// or https://"),
    Bad("an address without a host", {"url": "http:///orders"}, "names a host"),
    Bad("a port that is none", {"url": "http://api.example.com:99999/"}, "url"),
    Bad("an address of 10,000 characters", {"url": NOWHERE + "x" * 10_000}, "8192 characters"),
    Bad(
        "this machine's own address",
        {"url": "http://127.0.0.1:1/"},
        "a private or special address",
    ),
    Bad(
        "the metadata service of a cloud",
        {"url": "http://169.254.169.254/latest/meta-data/"},
        "a private or special address",
    ),
    Bad(
        "a header with a line break",
        {"url": "{server}/good", "headers": {"X-Note": "a\r\nHost: evil.example"}},
        "cannot be sent",
        needs="http",
    ),
    Bad(
        "a header outside of ASCII",
        {"url": NOWHERE, "headers": {"X-Note": "Grüße"}},
        "header 'X-Note' holds characters outside of ASCII",
    ),
    Bad(
        "a header that frames the request",
        {"url": NOWHERE, "headers": {"Transfer-Encoding": "chunked"}},
        "Transfer-Encoding cannot be set",
    ),
    Bad(
        "bytes that are no Base64",
        {"url": NOWHERE, "method": "POST", "bodyBase64": "%%%"},
        "bodyBase64 is not Base64",
    ),
    Bad(
        "text with a lone surrogate",
        {"url": NOWHERE, "method": "POST", "body": "a\ud800"},
        "body",
    ),
    Bad(
        "a number JSON does not know",
        {"url": NOWHERE, "method": "POST", "json": {"amount": float("nan")}},
        "cannot be written as JSON",
    ),
    Bad("two bodies", {"url": NOWHERE, "json": {}, "body": "x"}, "give only one of"),
    Bad(
        "a file outside the files folder",
        {
            "url": NOWHERE,
            "method": "POST",
            "multipart": [{"name": "f", "path": "../../etc/passwd"}],
        },
        "must lie below the files folder",
    ),
    Bad("an answer that never ends", {"url": "{server}/endless"}, "raise maxBytes", needs="http"),
    Bad(
        "64 KiB that unpack to 64 MiB",
        {"url": "{server}/gzip-bomb"},
        "raise maxBytes",
        needs="http",
    ),
    Bad(
        "an encoding that nobody asked for",
        {"url": "{server}/brotli"},
        "only one of gzip, deflate is understood",
        needs="http",
    ),
    Bad(
        "an answer that breaks off",
        {"url": "{server}/cut"},
        "RemoteProtocolError",
        ErrorType.TRANSIENT,
        needs="http",
    ),
    Bad(
        "an answer that drips",
        {"url": "{server}/drip-body", "timeoutSeconds": 0.3},
        "ReadTimeout",
        ErrorType.TIMEOUT,
        needs="http",
    ),
    Bad("redirects in a circle", {"url": "{server}/circle"}, "more than 5", needs="http"),
)
