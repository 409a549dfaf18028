"""Call a webhook with a signature: client.py URL BODY, the secret in SECRET. Stdlib only."""

import hashlib
import hmac
import os
import sys
import time
import urllib.request

url, body = sys.argv[1], sys.argv[2].encode()
now = str(int(time.time()))
signature = hmac.new(os.environ["SECRET"].encode(), now.encode() + b"." + body, hashlib.sha256)
request = urllib.request.Request(  # noqa: S310 - the caller names the address
    url,
    body,
    {
        "Content-Type": "application/json",
        "X-Valkyr-Signature": f"t={now},v1={signature.hexdigest()}",
    },
)
with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
    print(answer.status, answer.read().decode())
