"""The stand-alone platform's HTTP server: uvicorn, request limits, headers and WebSockets."""
