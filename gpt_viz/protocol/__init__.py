"""Every Command the engine takes and every Event it answers with. Knows no torch and no Qt.

All are frozen, slotted and picklable, so that the same pair of queues can cross a thread, a process or a network.
Arrays are read-only float32. No event holds prose: a view finds the words. Events carry the job they belong to, so
that the answers of a job that was superseded can be told from those of the one that took its place.

One subject a file, what is asked before what is answered; all of them are imported from here.
"""

from gpt_viz.protocol.base import CURRENT, OTHER, Command, Event
from gpt_viz.protocol.checkpoints import CheckpointOpened, CheckpointSaved, OpenCheckpoint, SaveCheckpoint
from gpt_viz.protocol.checks import Checked, RunChecks
from gpt_viz.protocol.jobs import Cancel, Cancelled, Failed, Finished, Pause, Progress, Resume
from gpt_viz.protocol.models import (
    Build,
    Built,
    DeviceInfo,
    Drop,
    Dropped,
    EngineReady,
    ModelInfo,
    TensorInfo,
)
from gpt_viz.protocol.passes import Attended, Inspect, StepSeen, TextRefused, Tokens, Traced
from gpt_viz.protocol.sampling import Distribution, Drawn, Predict, Sample
from gpt_viz.protocol.steps import Explain, Explained, MeasureSteps, OpenStep, StepOpened, StepsMeasured
from gpt_viz.protocol.texts import EncodingWanted, FetchText, OpenText, Reading, TextFetched, TextOpened
from gpt_viz.protocol.training import (
    MomentShown,
    MomentsKept,
    ReportTraining,
    ShowMoment,
    Train,
    TrainedSteps,
    TrainingBegan,
    TrainingSample,
    Untrain,
    Validated,
)
from gpt_viz.protocol.weights import OpenWeights, Weights, WeightsOpened

__all__ = [
    "CURRENT",
    "OTHER",
    "Attended",
    "Build",
    "Built",
    "Cancel",
    "Cancelled",
    "Checked",
    "CheckpointOpened",
    "CheckpointSaved",
    "Command",
    "DeviceInfo",
    "Distribution",
    "Drawn",
    "Drop",
    "Dropped",
    "EncodingWanted",
    "EngineReady",
    "Event",
    "Explain",
    "Explained",
    "Failed",
    "FetchText",
    "Finished",
    "Inspect",
    "MeasureSteps",
    "ModelInfo",
    "MomentShown",
    "MomentsKept",
    "OpenCheckpoint",
    "OpenStep",
    "OpenText",
    "OpenWeights",
    "Pause",
    "Predict",
    "Progress",
    "Reading",
    "ReportTraining",
    "Resume",
    "RunChecks",
    "Sample",
    "SaveCheckpoint",
    "ShowMoment",
    "StepOpened",
    "StepSeen",
    "StepsMeasured",
    "TensorInfo",
    "TextFetched",
    "TextOpened",
    "TextRefused",
    "Tokens",
    "Traced",
    "Train",
    "TrainedSteps",
    "TrainingBegan",
    "TrainingSample",
    "Untrain",
    "Validated",
    "Weights",
    "WeightsOpened",
]
