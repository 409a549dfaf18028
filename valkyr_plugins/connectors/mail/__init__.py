"""`email.send`: send mail over SMTP, or write it into a folder."""
