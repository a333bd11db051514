"""What any GPT holds and costs, by formula from its config alone. Knows no torch, no Qt and no model.

Every answer takes well under a millisecond, for 175 billion parameters too: sums are closed formulas, and the long
lists (tensors, steps) work out an entry when it is asked for. `engine.census` holds them against the real module.

Letters: V vocabulary, N block size, C width, H heads, D = C / H, L layers, B batch, T tokens in this pass.
"""

from gpt_viz.ledger.costs import (
    BYTES_PER_NUMBER,
    multiply_adds,
    multiply_adds_per_token,
    needed_bytes,
    weight_bytes,
)
from gpt_viz.ledger.flow import inputs, parameters_used, step_multiply_adds, step_parameters
from gpt_viz.ledger.forward import Steps, StepSpec, steps
from gpt_viz.ledger.letters import evaluate
from gpt_viz.ledger.parameters import SHARED, Tensors, TensorSpec, tensors
from gpt_viz.ledger.table import GROUPINGS, Row, Slice, groups, rows, total

__all__ = [
    "BYTES_PER_NUMBER",
    "GROUPINGS",
    "SHARED",
    "Row",
    "Slice",
    "StepSpec",
    "Steps",
    "TensorSpec",
    "Tensors",
    "evaluate",
    "groups",
    "inputs",
    "multiply_adds",
    "multiply_adds_per_token",
    "needed_bytes",
    "parameters_used",
    "rows",
    "step_multiply_adds",
    "step_parameters",
    "steps",
    "tensors",
    "total",
    "weight_bytes",
]
