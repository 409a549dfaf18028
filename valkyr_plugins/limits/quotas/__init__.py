"""Quotas: what one may say, what is used of them, and the gate that holds steps back."""
