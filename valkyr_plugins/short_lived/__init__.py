"""Credentials with short-lived values, which a server issues.

`vault` reads secrets of HashiCorp Vault, `oauth2` gets access tokens, and `aws_sts` gets temporary
keys of AWS roles. `requests` sends the requests, `types` registers the types of credentials, and
`fields` checks the fields of each type.
"""
