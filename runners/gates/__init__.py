"""Gates, which can hold a step before it runs, and the permits that they give for leases.

- `gates`: ask every gate about one step, or about steps that are leased together
- `held_permits`: keep the permits of leased runs until the lease ends
"""
