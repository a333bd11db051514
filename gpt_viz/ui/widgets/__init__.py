"""Pieces of picture that know numpy and the theme, and nothing of GPTs."""
