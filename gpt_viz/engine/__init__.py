"""The GPT itself and all that is computed with it. Torch lives here and only here; knows no Qt."""

import os

# Torch's threads spin while they wait for each other. Beside anything else that is busy they then take its time and
# lose their own: sampling was 5 to 25 times slower on two busy cores. Must be set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
