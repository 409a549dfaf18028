"""Modules that read and write files: below a folder that an administrator sets, or in S3."""
