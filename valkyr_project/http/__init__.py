"""The HTTP server of the stand-alone platform: uvicorn, request limits, headers, WebSockets."""
