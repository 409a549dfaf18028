"""Is it well: what is looked at, how, and what was found. Other apps add their parts."""
