"""Gets a file from the web into a folder, once, and only whole and right. Knows no command and no settings.

The network is waited for on a thread of its own: looking up a name can't be interrupted, and may take half a minute,
in which everything else goes on. Whoever advances the generator waits some milliseconds at a time for it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import os
import queue
import socket
import ssl
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

# (done, total, name) in bytes, or None for a place to pause at.
Step: TypeAlias = tuple[int, int, str] | None

TIMEOUT_S = 10.0
# So long is one step's wait for the network.
WAIT_S = 0.005
CHUNK_BYTES = 2**16
# Parts that may wait to be written: the network is never far ahead of the disk.
_AHEAD = 8
_REMEDY = "try again later, or save a copy with a browser and open that"


class DownloadError(ValueError):
    """A file could not be got. `reason` is one word, the message one sentence that says what to do."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = "url"


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the file lies, and whether it lay there before."""

    path: str
    cached: bool


def fetching(url: str, folder: str, name: str, *, sha256: str, size: int) -> Generator[Step, None, Fetched]:
    """Have a file of so many bytes and with this sum in the folder. Yields its progress.

    What lies there under that name is taken if it is the right one. Closing the generator ends the download, and
    leaves no part of it. Raises DownloadError with the reason `address`, `network`, `timeout`, `certificate`,
    `status`, `early`, `sum`, `disk` or `permission`.
    """
    place = Path(folder) / name
    if place.name != name or urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise DownloadError("address", f"{url} can't be got as {name}: it takes a web address and a file's name")
    if (yield from _lies_there(place, sha256, size)):
        return Fetched(str(place), cached=True)
    yield 0, size, name
    part = place.with_name(f".{name}-{os.getpid()}.part")
    source = _Source(url, size)
    try:
        with _written_to(part, size) as file:
            found = yield from _copied(source, file, part, name, size)
            if found != sha256:
                raise _wrong(url, "its sum is another one")
            _flush(file, part, size)
        try:
            os.replace(part, place)
        except OSError as error:
            raise _unwritable(error, place, size) from None
    finally:
        source.stop()
        with contextlib.suppress(OSError):
            part.unlink()
    return Fetched(str(place), cached=False)


def _lies_there(place: Path, sha256: str, size: int) -> Generator[Step, None, bool]:
    """Whether the right file is there already."""
    digest, done = hashlib.sha256(), 0
    try:
        if place.stat().st_size != size:
            return False
        with open(place, "rb") as file:
            while part := file.read(CHUNK_BYTES):
                digest.update(part)
                done += len(part)
                yield done, size, place.name
    except OSError:
        return False
    return digest.hexdigest() == sha256


def _copied(source: _Source, file: BinaryIO, part: Path, name: str, size: int) -> Generator[Step, None, str]:
    """The sum of what came, when all of it is written."""
    digest, done = hashlib.sha256(), 0
    source.start()
    while True:
        received = source.take()
        if received is None:
            yield None
            continue
        if not received:
            break
        done += len(received)
        if done > size:
            raise _wrong(source.url, f"it has more than {size:,} bytes")
        digest.update(received)
        try:
            file.write(received)
        except OSError as error:
            raise _unwritable(error, part, size) from None
        yield done, size, name
    if done < size:
        message = f"{_host(source.url)} broke off after {done:,} of {size:,} bytes; {_REMEDY}"
        raise DownloadError("early", message)
    return digest.hexdigest()


class _Source:
    """Reads an address on a thread of its own, which ends with the file, with an error, or after `stop`."""

    def __init__(self, url: str, size: int) -> None:
        self.url = url
        self._size = size
        self._parts: queue.Queue[bytes | DownloadError] = queue.Queue(_AHEAD)
        self._stopped = threading.Event()
        # A daemon: what hangs in a name look-up must not keep the program from ending.
        self._thread = threading.Thread(target=self._read, name="gpt-viz-download", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; what is under way ends by itself, within the time limit."""
        self._stopped.set()

    def take(self) -> bytes | None:
        """The next part, b"" at the end, None where there is none yet. Raises DownloadError."""
        ended = not self._thread.is_alive()
        try:
            part = self._parts.get(timeout=WAIT_S)
        except queue.Empty:
            if ended:
                raise DownloadError("early", f"{_host(self.url)} broke off its answer; {_REMEDY}") from None
            return None
        if isinstance(part, DownloadError):
            raise part
        return part

    def _read(self) -> None:
        try:
            request = urllib.request.Request(self.url, headers={"User-Agent": "gpt-viz"})
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
                announced = response.headers.get("Content-Length", "")
                if announced.isdecimal() and int(announced) != self._size:
                    self._put(_wrong(self.url, f"it has {int(announced):,} bytes, not {self._size:,}"))
                    return
                part = b"."
                while part and not self._stopped.is_set():
                    part = response.read1(CHUNK_BYTES)
                    self._put(part)
        except Exception as error:
            self._put(_unreached(error, self.url))

    def _put(self, part: bytes | DownloadError) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._parts.put(part, timeout=0.1)
                return


def _unreached(error: Exception, url: str) -> DownloadError:
    """What kept a file from coming, in a sentence."""
    host = _host(url)
    if isinstance(error, urllib.error.HTTPError):
        return DownloadError("status", f"{host} answered {error.code} {error.reason}; {_REMEDY}")
    cause: object = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return DownloadError("timeout", f"{host} did not answer within {TIMEOUT_S:.0f} s; {_REMEDY}")
    if isinstance(cause, ssl.SSLError):
        why = getattr(cause, "verify_message", "") or cause.strerror or str(cause)
        return DownloadError("certificate", f"{host} is not trusted ({why}); nothing was taken from it")
    if isinstance(cause, socket.gaierror):
        return DownloadError("network", f"there is no way to {host}: its name is not found; is there a network?")
    if isinstance(cause, http.client.HTTPException):
        return DownloadError("early", f"{host} broke off its answer; {_REMEDY}")
    why = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
    return DownloadError("network", f"{host} can't be reached ({why}); is there a network?")


def _wrong(url: str, why: str) -> DownloadError:
    return DownloadError("sum", f"{_host(url)} sent another file than the one that was wanted: {why}; it is not kept")


def _written_to(part: Path, size: int) -> BinaryIO:
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        return open(part, "wb")
    except OSError as error:
        raise _unwritable(error, part, size) from None


def _flush(file: BinaryIO, part: Path, size: int) -> None:
    try:
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(error, part, size) from None


def _unwritable(error: OSError, place: Path, size: int) -> DownloadError:
    folder = place.parent
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DownloadError("disk", f"the disk is full: {folder} has no room for {size / 1e6:.1f} MB; make some")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return DownloadError("permission", f"no permission to write to {folder}")
    return DownloadError("disk", f"{folder} can't be written to: {error.strerror or error}")


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).hostname or url
