"""Health checks: the parts to check, the checks, and their findings. Other apps add parts."""
