"""Remove secrets from outputs, errors and log lines of the steps that use them."""
