"""Checks the links in Markdown files."""

__version__ = "0.3.0"
