"""Pictures and tables that leave the window: their contents, and what is said when they can't be written."""

import csv
import os
import xml.etree.ElementTree as ElementTree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gpt_viz.ui import export, theme
from gpt_viz.ui.export import ExportError

ROWS = [["token", "p"], ["\n", "0.5"], ['"', "0.25"], [",", "0.125"], ["\t", "0.1"], ["é", "0.02"], ["😀", "0.005"]]


class Square(QWidget):
    """A red square in the middle, nothing else."""

    def paintEvent(self, event):
        QPainter(self).fillRect(30, 20, 40, 20, QColor("#ff0000"))


@pytest.fixture
def square(qtbot):
    widget = Square()
    qtbot.addWidget(widget)
    widget.resize(100, 60)
    return widget


def test_png_has_the_scaled_size_and_the_panels_colour_behind(square, tmp_path):
    export.save_png(square, tmp_path / "a.png", scale=2)
    image = QImage(str(tmp_path / "a.png"))
    assert (image.width(), image.height()) == (200, 120)
    assert image.pixelColor(100, 60).name() == "#ff0000"
    assert image.pixelColor(2, 2).name() == theme.LIGHT.card.lower()


def test_copied_picture_is_the_same(square):
    export.copy_picture(square)
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (200, 120)
    assert image.pixelColor(100, 60).name() == "#ff0000"


def test_svg_has_the_widgets_size_and_its_drawing(square, tmp_path):
    export.save_svg(square, tmp_path / "a.svg")
    renderer = QSvgRenderer(str(tmp_path / "a.svg"))
    assert renderer.isValid()
    assert renderer.viewBox().getRect() == (0, 0, 100, 60)
    image = QImage(100, 60, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    assert image.pixelColor(50, 30).name() == "#ff0000"


def test_svg_text_is_text_of_the_size_on_the_screen(qtbot, tmp_path):
    widget = QWidget()
    qtbot.addWidget(widget)
    label = QLabel("attention <b>&")
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(QFont(theme.ui_font().family(), 12))
    QVBoxLayout(widget).addWidget(label)
    widget.resize(300, 60)
    export.save_svg(widget, tmp_path / "a.svg")
    tree = ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = [each for each in tree.iter("{http://www.w3.org/2000/svg}text") if each.text]
    assert "attention" in "".join(each.text for each in texts)
    # The height in the file's own pixels, which are the screen's.
    image = QImage(300, 60, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    QSvgRenderer(str(tmp_path / "a.svg")).render(painter)
    painter.end()
    dark = [x for x in range(300) for y in range(60) if image.pixelColor(x, y).lightness() < 100]
    assert abs((max(dark) - min(dark)) - label.fontMetrics().horizontalAdvance(label.text())) < 12


def test_e07_csv_holds_the_real_characters(tmp_path):
    export.save_csv(ROWS, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == ROWS


def test_e07_copied_table_keeps_tabs_and_line_breaks_in_their_cells(qapp):
    export.copy_table(ROWS)
    text = QGuiApplication.clipboard().text()
    assert list(csv.reader(text.splitlines(keepends=True), delimiter="\t")) == ROWS
    assert text.startswith("token\tp\n")


def test_a_table_without_rows_is_refused(tmp_path, qapp):
    with pytest.raises(ExportError, match="no table"):
        export.save_csv([], tmp_path / "a.csv")
    with pytest.raises(ExportError, match="no table"):
        export.copy_table([])


def test_a_missing_folder_is_named(square, tmp_path):
    for save in (export.save_png, export.save_svg):
        with pytest.raises(ExportError, match=r"there is no folder .*nowhere"):
            save(square, tmp_path / "nowhere" / "a.png")
    with pytest.raises(ExportError, match="there is no folder"):
        export.save_csv(ROWS, tmp_path / "nowhere" / "a.csv")


def test_a_folder_as_name_is_refused(square, tmp_path):
    with pytest.raises(ExportError, match="is a folder"):
        export.save_png(square, tmp_path)


def test_no_permission_is_one_sentence(square, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ExportError, match="may not be written to; choose another folder"):
        export.save_png(square, tmp_path / "a.png")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("old")
    monkeypatch.setattr(export.QSaveFile, "write", lambda *_: -1)
    with pytest.raises(ExportError, match=r"a\.csv could not be written"):
        export.save_csv(ROWS, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_a_widget_without_size_and_one_too_large_are_refused(square, tmp_path):
    with pytest.raises(ExportError, match="too large"):
        export.save_png(square, tmp_path / "a.png", scale=1000)
    square.resize(0, 0)
    with pytest.raises(ExportError, match="no picture yet"):
        export.save_png(square, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
