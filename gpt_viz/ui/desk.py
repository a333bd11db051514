"""Where the panels lie: docks in a grid beside the form; one of them can fill it all. Knows no panel by name."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QGridLayout,
    QLabel,
    QMainWindow,
    QScrollArea,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gpt_viz.ui.header import Header
from gpt_viz.ui.widgets.manners import named

if TYPE_CHECKING:
    from gpt_viz.ui.panel import Panel

FORM_WIDTH = 248
GAP = 8
UPPER_SHARE = 0.53


class Scroller(QScrollArea):
    """What does not fit is reached by scrolling; keys are left to the window."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows are for the steps, not for this."""
        event.ignore()


class Desk(QMainWindow):
    """A window within the window that only has docks. `filled` carries the name that fills it, or ""; `pressed` a key
    that nothing on a floating dock had a use for.
    """

    filled = Signal(str)
    pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__(None, Qt.WindowType.Widget)
        self.setObjectName("desk")
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setContentsMargins(GAP, GAP, GAP, GAP)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._docks: dict[str, QDockWidget] = {}
        self._headers: dict[str, QWidget] = {}
        self._bodies: dict[str, QWidget] = {}
        self._behind: dict[int, str] = {}  # by the panel's place in the order: behind whose tab it is
        self._full = ""
        self._presenting = False
        header = Header("Model")
        header.sentence.hide()
        self.form_dock = self._dock("model", "Model", header, QWidget())
        self.page = QWidget()
        self._page = QVBoxLayout(self.page)
        self._page.setContentsMargins(0, 0, 0, 0)
        self._page.setSpacing(0)
        around = QWidget()
        margins = QVBoxLayout(around)
        margins.setContentsMargins(GAP, GAP, GAP, GAP)
        margins.addWidget(self.page)
        self.stack = QStackedWidget()  # what the window shows: all docks, or one panel
        self.stack.addWidget(Scroller(self))
        self.stack.addWidget(around)
        # A place for the focus that has no use for any key; a widget that is hidden would pass it to the next one.
        self.stack.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setFocusProxy(self.stack)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.form_dock)

    # -- putting up --

    def take_form(self, form: QWidget) -> None:
        """Put the model's form in its dock, where only an empty card has been."""
        self._bodies["model"].deleteLater()
        self._put_in(self.form_dock, "model", form)

    def add(self, panel: Panel) -> None:
        """Give the panel a dock of its own; `arrange` puts it in its place."""
        scroller = Scroller(panel)
        scroller.setMinimumSize(160, 110)
        dock = self._dock(panel.name, panel.title, panel.header, scroller)
        dock.visibilityChanged.connect(lambda seen: panel.come_into_sight() if seen else None)
        self._behind[len(self._docks)] = panel.behind
        self._docks[panel.name] = dock
        dock.hide()

    def wait(self, what: str) -> None:
        """Empty cards where the panels will be, the first of them saying what is waited for."""
        place = QWidget()
        grid = QGridLayout(place)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(GAP)
        for each in range(4):
            card = QLabel("" if each else what, alignment=Qt.AlignmentFlag.AlignCenter)
            card.setObjectName("waiting")
            card.setProperty("card", "whole")
            grid.addWidget(card, each // 2, each % 2)
        self.setCentralWidget(place)
        self.resizeDocks([self.form_dock], [FORM_WIDTH], Qt.Orientation.Horizontal)

    def arrange(self) -> None:
        """The default layout: the form at the left, beside it two by two, the rest behind them as tabs."""
        waiting = self.takeCentralWidget()
        if waiting is not None:
            waiting.deleteLater()
        self.fill("")
        docks = list(self._docks.values())
        for dock in (self.form_dock, *docks):
            dock.setFloating(False)
            self.removeDockWidget(dock)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.form_dock)
        for place, dock in enumerate(docks):
            if place == 0:
                self.splitDockWidget(self.form_dock, dock, Qt.Orientation.Horizontal)
            elif place == 1:
                self.splitDockWidget(docks[0], dock, Qt.Orientation.Horizontal)
            elif place < 4:
                self.splitDockWidget(docks[place - 2], dock, Qt.Orientation.Vertical)
            else:
                self.tabifyDockWidget(self._docks.get(self._behind.get(place, ""), docks[place % 4]), dock)
        for dock in (self.form_dock, *docks):
            dock.show()
        for dock in docks[:4]:
            dock.raise_()
        # A window that grows gives its room to the panels: the form has no use for more than its letters need.
        needed = self._bodies["model"].sizeHint().width() + 4 * GAP
        self.form_dock.setMaximumWidth(max(FORM_WIDTH + 4 * GAP, needed))
        self._share_out(docks)

    def _share_out(self, docks: list[QDockWidget]) -> None:
        width, height = max(self.width() - FORM_WIDTH - 4 * GAP, 100), max(self.height() - 3 * GAP, 100)
        self.resizeDocks(
            [self.form_dock, *docks[:2]], [FORM_WIDTH, width // 2, width // 2][: 1 + len(docks[:2])],
            Qt.Orientation.Horizontal,
        )  # fmt: skip
        upper = int(height * UPPER_SHARE)
        for top, bottom in zip(docks[:2], docks[2:4], strict=False):
            self.resizeDocks([top, bottom], [upper, height - upper], Qt.Orientation.Vertical)

    def _dock(self, name: str, title: str, header: QWidget, inner: QWidget) -> QDockWidget:
        dock = named(QDockWidget(title, self), f"dock.{name}", title)
        self._headers[name] = header
        dock.setTitleBarWidget(header)
        self._put_in(dock, name, inner)
        dock.installEventFilter(self)
        header.installEventFilter(self)
        return dock

    def _put_in(self, dock: QDockWidget, name: str, body: QWidget) -> None:
        self._bodies[name] = body
        body.setProperty("card", "bottom")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        dock.setWidget(body)

    # -- one fills all --

    @property
    def full(self) -> str:
        """The name of the panel that fills the window, or ""."""
        return self._full

    def fill(self, name: str) -> None:
        """Let the panel of that name have all the room; "" puts everything back where it was.

        The panel moves to a page of its own and back: docks that are hidden and shown again in numbers are more than
        Qt's layout of them can always bear.
        """
        if name == self._full or (name and name not in self._docks):
            return
        self.setFocus()
        if self._full:
            self._move(self._full, to_page=False)
        self._full = name
        if name:
            self._docks[name].setFloating(False)
            self._move(name, to_page=True)
        self.stack.setCurrentIndex(1 if name else 0)
        self.filled.emit(name)

    def _move(self, name: str, *, to_page: bool) -> None:
        dock, header, body = self._docks[name], self._headers[name], self._bodies[name]
        if to_page:
            dock.setTitleBarWidget(QWidget())
            dock.setWidget(QWidget())
            self._page.addWidget(header)
            self._page.addWidget(body, 1)
        else:
            for place, mine in ((dock.titleBarWidget(), header), (dock.widget(), body)):
                self._page.removeWidget(mine)
                if place is not None:
                    place.deleteLater()
            dock.setTitleBarWidget(header)
            dock.setWidget(body)
        header.show()
        body.show()

    def place(self, name: str) -> QWidget:
        """What holds the panel now, title and all: its dock, or the page that it fills."""
        return self.page if name == self._full else self._docks[name]

    def toggle(self, name: str) -> None:
        """Let the panel fill the window, or go back if it does."""
        self.fill("" if self._full == name else name)

    def present(self, on: bool) -> None:
        """Leave the form out, or bring it back."""
        self._presenting = on
        self.form_dock.setVisible(not on)

    def close_panel(self, name: str) -> None:
        """Take the panel from the desk; the menu brings it back."""
        self.fill("")
        self._docks[name].hide()

    def dock(self, name: str) -> QDockWidget:
        """The dock of that panel."""
        return self._docks[name]

    # -- remembering --

    def _version(self) -> int:
        """A layout of other panels than these is another version: it would leave the new ones anywhere."""
        return zlib.crc32(",".join(self._docks).encode()) & 0x7FFFFFFF

    def layout_state(self) -> bytes:
        """The layout, as it is when no panel fills the window."""
        if self._presenting:
            self.form_dock.show()
        return bytes(self.saveState(self._version()).data())

    def restore_layout(self, state: bytes) -> bool:
        """Lay everything as it was; False, and nothing changed, where that can't be done."""
        return bool(state) and self.restoreState(QByteArray(state), self._version())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A double click on a title fills the window with its panel; keys of a floating dock reach the window."""
        if event.type() == QEvent.Type.MouseButtonDblClick and isinstance(watched, Header):
            for name in self._docks:
                if self._headers[name] is watched:
                    self.toggle(name)
                    return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(watched, QDockWidget) and watched.isFloating():
            self.pressed.emit(event)
            return event.isAccepted()
        return False
