"""Payments through Stripe: payment intents, refunds and customers."""
