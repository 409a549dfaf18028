"""Modules for language models, at any endpoint that supports OpenAI's protocol.

The official client handles the protocol; Valkyr handles connections, timeouts, retries and costs.
"""
