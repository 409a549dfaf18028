"""Credentials with short-lived values, which a server issues.

`vault` reads dynamic secrets of HashiCorp Vault, `oauth2` gets access tokens, and `aws_sts` gets
keys of a role. `requests` sends the requests, `types` registers the types of credentials, and
`fields` checks the fields of each type.
"""
