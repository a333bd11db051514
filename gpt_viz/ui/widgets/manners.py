"""What all our controls have in common: names, tips, the wheel. Knows none of them."""

from __future__ import annotations

from typing import Protocol, TypeVar

from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget

_W = TypeVar("_W", bound=QWidget)


def named(widget: _W, name: str, says: str) -> _W:
    """The widget with the name that code finds it by, and the one that a screen reader says."""
    widget.setObjectName(name)
    widget.setAccessibleName(says)
    return widget


def set_property(widget: QWidget, name: str, on: bool) -> None:
    """Switch a property that the style sheet asks for, and have it looked at again."""
    if bool(widget.property(name)) != on:
        widget.setProperty(name, "true" if on else None)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def tip(text: str) -> str:
    """A plain text as a tool tip, which would otherwise guess at HTML."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<qt>{escaped}</qt>" if text else ""


class _Wheeled(Protocol):
    def hasFocus(self) -> bool: ...  # noqa: N802 (Qt's name)


def wheel_is_meant(field: _Wheeled, event: QWheelEvent) -> bool:
    """Whether a turn of the wheel is for the field; otherwise it scrolls the form under it."""
    if field.hasFocus():
        return True
    event.ignore()
    return False
