"""`email.send`, over SMTP or into a folder."""
