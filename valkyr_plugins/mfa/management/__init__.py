"""Commands of single sign-on."""
