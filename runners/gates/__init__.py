"""What may hold a step back before it runs: gates, and the permits that they gave for leases.

- `gates`: ask every gate about one step, or about steps that are leased together
- `held_permits`: keep the permits of leased runs, until the lease ends
"""
