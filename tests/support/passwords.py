"""Passwords of tests, hashed as usual, with a thousandth of the rounds.

The rounds are slow on purpose: half a second for each password that is set and each sign-in. Other
processes, such as a stack's, check these hashes too and replace them at the first sign-in.
"""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """Django's hasher with few rounds."""

    iterations = PBKDF2PasswordHasher.iterations // 1000
