"""What stands behind the window's first paint: all that answers the user and the engine. Knows no panel.

It is imported after that paint, and with it the protocol, the form and the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpt_viz.ui.actions import Actions
from gpt_viz.ui.asking.conductor import Conductor
from gpt_viz.ui.bridge import Bridge
from gpt_viz.ui.closing import Closing
from gpt_viz.ui.commands import add_commands, menu
from gpt_viz.ui.messages import Messages
from gpt_viz.ui.model.builder import Builder
from gpt_viz.ui.model.checkpoints import Checkpoints
from gpt_viz.ui.model.model_form import ModelForm
from gpt_viz.ui.model.switching import Switching
from gpt_viz.ui.opening import Opening
from gpt_viz.ui.sampling.running import Running
from gpt_viz.ui.selection import SelectionModel
from gpt_viz.ui.study import Study
from gpt_viz.ui.subject import Subject
from gpt_viz.ui.text.reading import Reading
from gpt_viz.ui.text.reopening import Reopening
from gpt_viz.ui.text.texts import Texts
from gpt_viz.ui.training.keeping import Keeping
from gpt_viz.ui.training.learner import Learner

if TYPE_CHECKING:
    from gpt_viz.ui.window import MainWindow


def put_up(window: MainWindow, opening: Opening) -> None:
    """Give the window what its attributes promise, the form and the menu in their places; nothing is connected yet."""
    new_job, send = window.new_job, window.worker.send
    window.selection, window.study, window.subject = SelectionModel(window), Study(window), Subject(window)
    selection, study, subject = window.selection, window.study, window.subject
    window.learner = learner = Learner(subject, new_job, send, window)
    window.form = ModelForm(subject)
    window.builder = builder = Builder(subject, study, window.form, new_job, send, window)
    window.switching = Switching(window.topbar.weights, learner, subject, builder, window)
    window.checkpoints = Checkpoints(window, builder, new_job, send)
    window.texts = texts = Texts(subject, study, builder, new_job, send, window)
    window.reopening = Reopening(opening.again, builder, study, texts.propose, texts.open, new_job, send, window)
    window.keeping = Keeping(
        learner, subject, new_job, send, texts.propose, builder.open_checkpoint, parent=window,
    )  # fmt: skip
    window.keeping.wanted = opening.remembers
    builder.before = window.keeping.before
    window.closing = Closing(window.keeping, window.checkpoints, learner, window.status.say, window.close, window)
    followed = (builder, window.checkpoints, texts, window.reopening, window.keeping)
    window.messages = Messages(window.status, lambda event: any(each.owns(event) for each in followed), window)
    window.running = Running(window)
    window.reading = Reading(window.topbar, subject, study, selection, window)
    window.conductor = Conductor(subject, study, selection, new_job, send, parent=window)
    window.bridge = Bridge(window.worker.mailbox, window.faults.report, window.conductor.accepts, window)
    window.desk.take_form(window.form)
    window.column.insertWidget(1, window.messages.place)
    window.column.insertWidget(2, texts.offer)
    window.actions_ = actions = Actions(window)
    add_commands(window)
    window.topbar.menu.setMenu(menu(window))
    window.topbar.act(actions["sample"], actions["present"], actions["text"])
