"""JSON Schema (draft 2020-12) of tenants, checked within a budget.

Read in this order: `budget` (how much one check may cost), `canonical` (values as texts that are
equal when the values are), `keywords` (the keywords that the library checks without a bound),
`checking` (the validator, and the errors of a value).
"""
