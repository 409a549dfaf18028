"""Check values against tenants' JSON Schemas (draft 2020-12) within a budget.

Read the files in this order: `budget` (the cost of one check), `messages` (sentences without
values), `keywords` (the keywords that the library checks without a limit), and `checking` (the
validator, and the errors of a value).
"""
