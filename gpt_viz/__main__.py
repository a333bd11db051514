"""`python -m gpt_viz` is the same program as `gpt-viz`."""

import sys

from gpt_viz.cli import main

sys.exit(main())
