"""Files in S3 and what speaks like it, by s3fs, at addresses that steps may reach."""
