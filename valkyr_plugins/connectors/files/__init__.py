"""Modules that read and write files: in the configured folder, or in stores such as S3."""
