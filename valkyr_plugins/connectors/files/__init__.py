"""Modules that read and write files, all of them below one folder that an administrator sets."""
