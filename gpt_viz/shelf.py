"""The texts that can be got from the web: where they are, and how the right ones are told. Gets nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemoteText:
    """A text on the web. `name` is what its file is called here; it has so many `bytes` and this `sha256`."""

    title: str
    name: str
    url: str
    bytes: int
    sha256: str


# The notebooks' own text, at their own address: 40,000 lines of Shakespeare that Andrej Karpathy put together.
TINY_SHAKESPEARE = RemoteText(
    title="Tiny Shakespeare",
    name="tinyshakespeare.txt",
    url="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
    bytes=1_115_394,
    sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
)
