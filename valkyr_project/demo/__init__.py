"""`make demo`: run the order-import workflow with 200 orders against a small partner server.

It uses the public API only, so it is also an example of a client.
"""
