"""The widgets of an opened step, each with the names that code and a screen reader know it by. Knows no step."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from gpt_viz.ui.widgets.caption import Caption
from gpt_viz.ui.widgets.code_strip import CodeStrip
from gpt_viz.ui.widgets.figures import Figures
from gpt_viz.ui.widgets.formula import Formula
from gpt_viz.ui.widgets.histogram import Histogram
from gpt_viz.ui.widgets.input_pictures import InputPictures
from gpt_viz.ui.widgets.manners import named
from gpt_viz.ui.widgets.navigator import Navigator
from gpt_viz.ui.widgets.step_stage import Parts
from gpt_viz.ui.widgets.tensor_picture import TensorPicture
from gpt_viz.ui.widgets.written_sum import WrittenSum


def step_parts() -> Parts:
    """All parts of the view, empty."""
    about = named(QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop), "step.about", "What this step does")
    about.setTextFormat(Qt.TextFormat.PlainText)
    parts = Parts(
        navigator=named(Navigator(), "step.navigator", "The model from top to bottom"),
        title=named(Caption(), "step.title", "The step"),
        picture=named(TensorPicture(), "step.picture", "The step’s tensor"),
        value=named(Caption(), "step.value", "The number under the pointer"),
        histogram=named(Histogram(), "step.histogram", "How often each size of number occurs"),
        figures=named(Figures(), "step.figures", "The step in figures"),
        formula=named(Formula(quiet=True), "step.formula", "The step’s formula"),
        code=named(CodeStrip(), "step.code", "The line that computes this step"),
        about=about,
        origin=named(Caption(), "step.origin", "What it was computed from"),
        inputs=named(InputPictures(), "step.inputs", "What it was computed from"),
        found=named(Caption(), "step.found", "The number as found and as written out"),
        written=named(Formula(), "step.written", "The number written out"),
        terms=named(WrittenSum(), "step.terms", "The terms of the sum"),
    )
    for at, picture in enumerate(parts.inputs.pictures):
        named(picture, f"step.input.{at}", f"Input {at + 1}")
    return parts
