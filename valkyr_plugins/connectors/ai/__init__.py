"""Modules that speak to language models, at any endpoint that speaks OpenAI's protocol.

The protocol is the official client's; connections, time-outs, retries and costs are the engine's.
"""
