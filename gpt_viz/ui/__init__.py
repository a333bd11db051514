"""The window and all that is in it. Importing this puts Python's own way to import back, which PySide replaces.

PySide reads the source of each module that is imported after it, in case the module asks for its `__feature__`s. None
of ours does, and neither do numpy and torch: theirs are more than a thousand files.
"""

import builtins

import PySide6.QtCore  # noqa: F401 (it is what replaces it)

builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
