"""Modules that pack files and unpack archives, which may come from anybody."""
