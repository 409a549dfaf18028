"""Files in S3 and compatible stores, through s3fs, at addresses that steps may reach."""
