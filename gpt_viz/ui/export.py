"""Pictures and tables out of the window: to the clipboard, and to PNG, SVG and CSV files. Knows no panel.

A file appears whole or not at all: it is written beside its place and moved there. The SVG is drawn by the widget's
own paint code.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QSaveFile, QSize
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from gpt_viz.ui import theme

Rows = Sequence[Sequence[str]]
_LARGEST_SIDE = 32_767  # pixels; above that a raster painter draws nothing


class ExportError(ValueError):
    """A picture or table that could not be written; the message is one sentence that says why and what would do."""


def copy_picture(widget: QWidget, scale: float = 2) -> None:
    """Put a picture of the widget on the clipboard, `scale` pixels to each of its own."""
    QGuiApplication.clipboard().setImage(_image(widget, scale))


def copy_table(rows: Rows) -> None:
    """Put the rows on the clipboard as a spreadsheet takes them: tabs between cells, one line a row."""
    if not rows:
        raise ExportError("there is no table to copy yet")
    QGuiApplication.clipboard().setText("\n".join("\t".join(map(_tsv_cell, row)) for row in rows) + "\n")


def save_png(widget: QWidget, path: str | Path, scale: float = 2) -> None:
    """Write a picture of the widget as PNG, `scale` pixels to each of its own. Raises ExportError."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not _image(widget, scale).save(buffer, "PNG"):  # type: ignore[call-overload] # the stubs want bytes here
        raise ExportError("the picture is too large to be written as PNG; make the window smaller")
    _write(path, bytes(buffer.data().data()))


def save_svg(widget: QWidget, path: str | Path) -> None:
    """Write the widget as SVG, in which lines and text stay sharp at any size. Raises ExportError."""
    size = _size(widget)
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    # Fonts are given in points: without the widget's own resolution they come out larger than on the screen.
    generator.setResolution(widget.logicalDpiX())
    generator.setTitle(widget.accessibleName() or widget.objectName())
    _paint(widget, QPainter(generator))
    _write(path, bytes(buffer.data().data()))


def save_csv(rows: Rows, path: str | Path) -> None:
    """Write the rows as CSV: UTF-8, commas, cells with commas, quotes or line breaks quoted. Raises ExportError."""
    if not rows:
        raise ExportError("there is no table to save yet")
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    _write(path, text.getvalue().encode("utf-8", "backslashreplace"))


def _tsv_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in '\t\n\r"') else cell


def _size(widget: QWidget) -> QSize:
    if widget.size().isEmpty():
        raise ExportError("there is no picture yet: the panel has no size; show it first")
    return widget.size()


def _image(widget: QWidget, scale: float) -> QImage:
    size = _size(widget) * scale
    if max(size.width(), size.height()) > _LARGEST_SIDE:
        raise ExportError(
            f"a picture of {size.width()} x {size.height()} pixels is too large; save it as SVG, or at a smaller scale"
        )
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        raise ExportError(
            f"there is not enough memory for a picture of {size.width()} x {size.height()} pixels; save it as SVG"
        )
    image.setDevicePixelRatio(scale)
    image.fill(QColor(theme.tokens().card))
    _paint(widget, QPainter(image))
    return image


def _paint(widget: QWidget, painter: QPainter) -> None:
    """Draw the widget and what lies in it on the colour of a panel, which is its parent's and not its own."""
    painter.fillRect(widget.rect(), QColor(theme.tokens().card))
    widget.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
    painter.end()


def _write(path: str | Path, data: bytes) -> None:
    path = Path(path).expanduser()
    if not path.parent.is_dir():
        raise ExportError(f"there is no folder {path.parent}; choose one that exists")
    if path.is_dir():
        raise ExportError(f"{path} is a folder; give the file a name")
    if not os.access(path.parent, os.W_OK):
        raise ExportError(f"{path.parent} may not be written to; choose another folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise ExportError(f"{path} is write-protected; choose another name")
    file = QSaveFile(str(path))
    # write() of a full disk may only be noticed by commit(), which then leaves the old file as it was.
    if not (file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == len(data) and file.commit()):
        raise ExportError(f"{path} could not be written: {file.errorString()}; choose another folder")
