"""Modules for language models, at any endpoint with OpenAI's protocol.

The official client handles the protocol; Valkyr handles connections, timeouts, retries and costs.
"""
