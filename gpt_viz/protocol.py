"""Every Command the engine takes and every Event it answers with. Knows no torch and no Qt.

All are frozen, slotted and picklable, so that the same pair of queues can cross a thread, a process or a network.
Arrays are read-only float32. No event holds prose: a view finds the words. Events carry the job they belong to, so
that the answers of a job that was superseded can be told from those of the one that took its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from gpt_viz.config import GPTConfig
from gpt_viz.schedule import TrainingSettings

if TYPE_CHECKING:  # loaded after the first paint, and the window needs the commands before it
    import numpy as np

    from gpt_viz.explanation import Explanation
    from gpt_viz.measures import Figures, Histogram, Picture, StepMeasure

CURRENT = "current"
OTHER = "other"


# --- what is asked -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Something to be done. A newer command of the same `lane` and slot supersedes an older one, if it is of the same
    `asker`: views that ask for themselves do not take each other's answers away.
    """

    job: int
    slot: str = CURRENT
    asker: str = ""
    lane: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build(Command):
    """Make a model and put it into the slot. Yields Progress, then Built; a failure leaves the slot as it was.

    `alphabet` is the characters of its ids in order; None means that the model is fed with ids.
    """

    lane = "build"
    config: GPTConfig
    seed: int = 1337
    device: str = "auto"
    alphabet: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCheckpoint(Command):
    """Put the model of a file or a folder into the slot. Yields Progress, then Built and CheckpointOpened.

    `settings` are `name=value` for what the file does not say: a config's settings, and `alphabet=ABC`. A failure
    leaves the slot as it was; where something must be known first, it is Failed with its `field` and `candidates`.
    What has more than `at_most` bytes is left alone: Failed with the field "size".
    """

    lane = "build"
    path: str
    settings: tuple[str, ...] = ()
    device: str = "auto"
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveCheckpoint(Command):
    """Write the slot's model to a file, whole or not at all. Yields CheckpointSaved.

    A `resumable` file also holds what its training needs to go on; that takes three times the room. It holds the
    weights that are shown, or the `newest`, whichever moment is shown.
    """

    lane = "save"
    path: str
    resumable: bool = True
    newest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect(Command):
    """One forward pass of the text under study. Yields Traced where `trace`, Attended where `attention`.

    The text is `text` encoded, then the `continuation` (ids that were sampled after it); the model sees its last
    `block_size` tokens. `head` (layer, head) is the one that a long text needs whole.
    """

    lane = "inspect"
    text: str
    continuation: tuple[int, ...] = ()
    trace: bool = True
    attention: bool = True
    head: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSteps(Command):
    """Measure every step of one pass of the text under study. Yields one StepsMeasured, or TextRefused."""

    lane = "measure"
    text: str
    continuation: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep(Command):
    """Look into one step of a pass of the text under study. Yields one StepOpened, or TextRefused.

    `step` is the place's name. The pass goes only as far as that step.
    """

    lane = "open"
    text: str
    continuation: tuple[int, ...] = ()
    step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Command):
    """Say where one number of a pass of the text under study came from. Yields one Explained, or TextRefused.

    `index` has one figure for each axis of the step's tensor, the batch axis's first.
    """

    lane = "explain"
    text: str
    continuation: tuple[int, ...] = ()
    step: str
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWeights(Command):
    """Look at parameters as they are now. Yields one WeightsOpened.

    `parameter` is the name of a tensor, of a module with a weight (and a bias), or of a head with its three matrices.
    """

    lane = "weights"
    parameter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predict(Command):
    """The distribution over the next token after the text. Yields one Distribution, `chosen` marked in it."""

    lane = "predict"
    text: str
    continuation: tuple[int, ...] = ()
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    chosen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Command):
    """Draw `tokens` more after the text (None: until cancelled). Yields Drawn and Distribution for each.

    `temperature` 0 is greedy; `top_k` 0 is off; `top_p` 1 is off. The continuation's tokens count as drawn from the
    same seed: its k tokens make this job begin at draw k, so that stepping and running give the same text.
    """

    lane = "sample"
    text: str
    continuation: tuple[int, ...] = ()
    tokens: int | None = None
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChecks(Command):
    """Try on a copy of the model what is claimed of it. Yields Progress, and a Checked for each check.

    `names` chooses checks (none: all, see `claims.NAMES`). `position` and `token` (an id) are what the test of
    causality changes; None leaves them to it.
    """

    lane = "checks"
    text: str
    continuation: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    position: int | None = None
    token: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenText(Command):
    """Read a text file. Yields Progress, then TextOpened. The file is only ever read.

    `encoding` None takes what the file's byte-order mark says, else UTF-8; where that does not fit, EncodingWanted
    comes before Failed. A file of more than `at_most` bytes is left alone: Failed with the field "size".
    """

    lane = "text"
    path: str
    encoding: str | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchText(Command):
    """Get a text from the web, unless it is in the folder already. Yields Progress, TextFetched and TextOpened.

    It has so many `bytes` and this `sha256`, whatever comes from the `url`, and is kept in `folder` under `name`.
    """

    lane = "text"
    url: str
    sha256: str
    bytes: int
    folder: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Train(Command):
    """Train the slot's model on a text. Yields Progress while that is read, then TrainingBegan and what comes of it.

    With the text and settings of the run that the slot was last in, it goes on with that run where it stands, unless
    that is complete; otherwise a new run begins from the weights as they are. `corpus` is a file, None the built-in
    passage. `limit` makes at most so many steps now. Each estimate on the validation part takes `windows` of it
    (0: all). A sample of `tokens` is drawn now and then, always from `sample_seed` (0 tokens: none).
    """

    lane = "train"
    corpus: str | None = None
    encoding: str | None = None
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    limit: int | None = None
    windows: int = 64
    tokens: int = 120
    sample_seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Untrain(Command):
    """Give the slot's model the weights from before its first step, bit for bit, and forget its runs. Yields
    MomentsKept and MomentShown.
    """

    lane = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTraining(Command):
    """Say what of the slot's training has not been said yet, as after a Cancel. Yields TrainedSteps, MomentsKept."""

    lane = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowMoment(Command):
    """Give the slot's model the weights that it had after `step` steps, or with None the newest. Yields MomentShown.

    Only to be looked at: a run goes on from the newest ones, whatever is shown.
    """

    lane = "moment"
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Command):
    """Forget the slot's model and give its memory back."""

    lane = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Command):
    """End the job `target` at its next yield; the runner itself answers with Cancelled."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Command):
    """Keep the job `target` where it stands until Resume."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Command):
    """Let the paused job `target` go on."""

    target: int


# --- what is answered ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Event:
    """Something that happened. Of a `picture` kind the mailbox keeps only the newest of each slot and job; of any other
    kind it keeps all.
    """

    job: int
    slot: str = CURRENT
    picture: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A device as it is offered: `name` is what `--device` takes; `reason` says why it can't be used, else empty."""

    name: str
    title: str
    reason: str = ""
    memory_bytes: int | None = None

    @property
    def usable(self) -> bool:
        """Whether a model can be built there."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EngineReady(Event):
    """The engine exists: torch is imported. `threads` is how many torch works with."""

    torch_version: str
    devices: tuple[DeviceInfo, ...]
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Progress(Event):
    """`done` of `total` (0: unknown), while `what` (a place, a file's name) is worked on."""

    done: int
    total: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One parameter tensor of the real module; `shared_with` names the tensor it is, where it is tied (count 0)."""

    name: str
    shape: tuple[int, ...]
    count: int
    shared_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model that exists. `total` counts unique tensors. `bytes` is what its weights take on the device.

    Text is read by characters where it has an `alphabet`, by pieces where it has `pieces` (the text of each id; only
    the engine can cut a text into them), else as ids. `source` is the name of the file it was opened from, if any.
    """

    config: GPTConfig
    seed: int
    device: str
    alphabet: tuple[str, ...] | None
    tensors: tuple[TensorInfo, ...]
    total: int
    bytes: int
    elapsed_s: float
    pieces: tuple[str, ...] | None = None
    source: str = ""

    def piece(self, id: int) -> str:
        """The text of one id: its character or piece, or the number itself where the model reads ids."""
        texts = self.alphabet if self.alphabet is not None else self.pieces
        if texts is None:
            return str(id)
        return texts[id] if id < len(texts) else f"‹{id}›"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Built(Event):
    """The slot holds a new model."""

    model: ModelInfo


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckpointOpened(Event):
    """The slot's model came from this file. `report` lists (what, detail): recognised, renamed, tied, ignored, ..."""

    path: str
    report: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckpointSaved(Event):
    """The slot's model is in this file, which has so many bytes."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a pass really saw: `ids` and their texts `pieces`, after `dropped` earlier ones left out."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One step of the pass as it ran: its place's name, the shape and dtype of its result."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traced(Event):
    """One pass, step by step, in order of execution. `loss` is in nats per token over the text's own next characters
    (None for a single token). `first_bad` names the first place whose numbers are not all finite (-inf in `masked`
    is meant), else empty. `elapsed_s` is the time of a plain pass of the same ids, without the recording; where that
    would take more than some milliseconds, the time of this very pass, with it.
    """

    picture = True
    tokens: Tokens
    steps: tuple[StepSeen, ...]
    loss: float | None
    first_bad: str
    elapsed_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attended(Event):
    """The stashed attention of every head. `patterns` (L, H, t, t): row = query, column = key; t = T up to 128
    tokens, else each cell is the maximum of a square of cells. `whole` (T, T) is the chosen `head`'s at full size.
    """

    picture = True
    tokens: Tokens
    patterns: np.ndarray
    head: tuple[int, int]
    whole: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepsMeasured(Event):
    """Every step of one pass, measured, in order of execution. The loss is left out for a single token."""

    picture = True
    tokens: Tokens
    steps: tuple[StepMeasure, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepOpened(Event):
    """One step of a pass, looked into: its result measured whole and as a picture.

    `inputs` are pictures of all that it was computed from, places first, then parameters. `histogram` is None where
    no number of the result is finite.
    """

    picture = True
    tokens: Tokens
    step: StepMeasure
    histogram: Histogram | None
    tensor: Picture
    inputs: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explained(Event):
    """Where one number of a pass came from."""

    picture = True
    tokens: Tokens
    explanation: Explanation


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """One parameter tensor: a picture of it, and figures and histogram of all of it.

    `promised_std` is the spread that the initialisation draws it with: 0 for what starts at zero, None for a LayerNorm.
    `initial_std` is the spread that it was really drawn with, None where that is not known. `shared_with` names the
    tensor that it is, where it is tied. `histogram` goes as far below 0 as above, to a round number beyond the largest
    size; None where no number is finite.
    """

    picture: Picture
    figures: Figures
    histogram: Histogram | None
    promised_std: float | None
    initial_std: float | None
    shared_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightsOpened(Event):
    """The tensors that a `parameter` stands for, all of one moment: `step` steps of training after they were drawn."""

    picture = True
    parameter: str
    step: int
    tensors: tuple[Weights, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextRefused(Event):
    """The text can't be read by this model: `unknown` lists (position, character), position counted from 0.

    Empty `unknown` means that there is nothing to read: the text is empty.
    """

    unknown: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution(Event):
    """What came next, or may come, after `position` tokens of prompt and continuation together.

    `logits` (V,) as the head gave them; `probabilities` (V,) after temperature and both cuts, 0 where cut away.
    `chosen` is the id that was drawn there, or None.
    """

    picture = True
    position: int
    logits: np.ndarray
    probabilities: np.ndarray
    chosen: int | None
    temperature: float
    top_k: int
    top_p: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn(Event):
    """One token was sampled, the `position`-th of prompt and continuation together (counted from 0).

    `probability` is what it was drawn with (after the cuts); `rank` 0 is the likeliest before the cuts.
    """

    id: int
    piece: str
    position: int
    probability: float
    rank: int
    tokens_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checked(Event):
    """How the check `name` went. `passed` None: it does not apply to this model or text, and `detail` says why.

    `expected` and `found` are as they are read; `tolerance` None: exactly, or the range that `expected` names. While
    `running` more of the same name follow. `facts` are named values for the texts; `arrays` pictures by name, `labels`
    the names along their axes.
    """

    name: str
    passed: bool | None
    expected: str
    found: str
    tolerance: float | None
    detail: str
    running: bool = False
    facts: tuple[tuple[str, int | float | str], ...] = ()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arrays: tuple[tuple[str, np.ndarray], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextOpened(Event):
    """A text file was read. `excerpt` is its beginning; `notes` are (what, number) pairs such as ("crlf", 123).

    `alphabet` is its different characters, Unicode code points; `counts` how often each of them occurs.
    """

    path: str
    name: str
    characters: int
    alphabet: tuple[str, ...]
    excerpt: str
    encoding: str
    notes: tuple[tuple[str, int], ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an encoding makes of a place in a file: the characters around it."""

    encoding: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncodingWanted(Event):
    """A text file is not in `encoding`: its byte number `offset` (from 0) is `byte`. `readings` are what others give.

    They can read the file as far as it was looked at, the commonest of them first.
    """

    path: str
    encoding: str
    offset: int
    byte: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextFetched(Event):
    """A text from the web lies in this file; whether it lay there before."""

    path: str
    bytes: int
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingBegan(Event):
    """A run goes on from step `step`; it began at `first` and is complete at `last`. Steps are counted over all runs
    since the model was built or untrained, so step n is what turns the weights of moment n into those of n + 1.

    `name` is the text's, `sha256` that of its characters as UTF-8. `tokens` are trained on; of the `validation_tokens`
    each estimate takes `windows` windows.
    """

    first: int
    step: int
    last: int
    name: str
    sha256: str
    tokens: int
    validation_tokens: int
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainedSteps(Event):
    """One or more steps were made, the first of them number `first`; the arrays (n,) have one entry for each.

    `losses` are those of each step's batch before it, in nats per token. `left_s` is what the run still takes at the
    pace so far, without pauses.
    """

    first: int
    losses: np.ndarray
    rates: np.ndarray
    gradient_norms: np.ndarray
    tokens_per_second: float
    left_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validated(Event):
    """The mean loss over `windows` windows of the validation part at moment `step`, in nats per token.

    0 windows: it was estimated at another time, and only read from a file.
    """

    step: int
    loss: float
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingSample(Event):
    """What the model writes after `prompt` at moment `step`, drawn from the same seed each time."""

    step: int
    prompt: str
    text: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MomentsKept(Event):
    """The `steps` whose weights can be shown, rising, beside the `newest`. They take `bytes`, `limit_bytes` at most."""

    steps: tuple[int, ...]
    newest: int
    bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MomentShown(Event):
    """The slot's model has the weights of moment `step`; whether these are the `newest`."""

    step: int
    newest: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dropped(Event):
    """The slot is empty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finished(Event):
    """The job came to its end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cancelled(Event):
    """The job was ended before its end: by Cancel, or since a newer one of its lane took its place."""

    superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failed(Event):
    """The job ended with an error. `message` is one sentence; `details` a traceback, for the log and "copy details".

    `expected` is True for a mistake in what was asked (a ValueError), `field` the setting at fault where one is known.
    `candidates` are the values of that setting that would do, where there are few.
    """

    message: str
    details: str
    expected: bool
    field: str = ""
    candidates: tuple[str, ...] = ()
