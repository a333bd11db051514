"""Starts the program; nothing else."""

import sys

from gpt_viz.cli import main

if __name__ == "__main__":
    sys.exit(main())
