"""Payments by Stripe: payment intents, refunds and customers."""
