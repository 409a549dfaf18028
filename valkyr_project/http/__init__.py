"""How the stand-alone platform serves HTTP: uvicorn, limits of requests, headers, WebSockets."""
