"""`make demo`: the bundled order-import workflow, driven with 200 orders against a small partner.

It uses the public API only, so it doubles as an example of a client.
"""
