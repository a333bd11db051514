"""The GPT itself and all that is computed with it. Torch lives here and only here; knows no Qt."""
