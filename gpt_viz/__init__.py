"""GPT Viz: a GPT built, opened up, run and questioned in one window, every number taken from the running model."""

__version__ = "0.1.0"
