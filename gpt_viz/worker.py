"""A runner on a thread of its own, and the mailbox its events wait in. Knows no torch and no Qt.

The thread makes the engine itself, so that importing torch never stands in the way of the first paint.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpt_viz.protocol import Command, Event
    from gpt_viz.runner import Runner, Runs


class Mailbox:
    """Keeps every ordinary event and of each job only the newest of each picture kind, in the order they came.

    Of each job: the distribution that was asked for once must not be lost among those that sampling sends on and on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[int, Event] = {}
        self._newest: dict[tuple[type[Event], str, int], int] = {}
        self._count = 0

    def put(self, event: Event) -> None:
        """Add an event at the end; of a picture kind the older one that still waits is dropped."""
        with self._lock:
            self._count += 1
            if event.picture:
                key = (type(event), event.slot, event.job)
                self._events.pop(self._newest.get(key, -1), None)
                self._newest[key] = self._count
            self._events[self._count] = event

    def drain(self) -> list[Event]:
        """All that waits, oldest first; the mailbox is empty afterwards."""
        with self._lock:
            events = list(self._events.values())
            self._events.clear()
            self._newest.clear()
        return events


class Worker:
    """The worker thread. `make_engine` is called on it with the function that puts events into the mailbox."""

    def __init__(self, make_engine: Callable[[Callable[[Event], None]], Runs]) -> None:
        self.mailbox = Mailbox()
        self._make_engine = make_engine
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        # A daemon: a step of torch can't be interrupted, and a window that closes must not wait for a long one.
        self._thread = threading.Thread(target=self._run, name="gpt-viz-worker", daemon=True)
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start the thread; commands sent before are kept."""
        self._thread.start()

    def send(self, command: Command) -> None:
        """Queue a command; never blocks."""
        self._commands.put(command)

    def stop(self, timeout_s: float) -> bool:
        """End all jobs and the thread at the next yield. Returns whether it ended within the time."""
        self._stopping.set()
        self._commands.put(None)
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        from gpt_viz.runner import (  # only now: the first paint can do without, and with them the protocol
            Runner,
            failure,
        )

        try:
            engine = self._make_engine(self.mailbox.put)
        except Exception as error:
            self.mailbox.put(failure(error, 0, ""))
            return
        runner = Runner(engine, self.mailbox.put)
        self._take(runner)
        while not self._stopping.is_set():
            runner.advance(called=lambda: not self._commands.empty())
            self._take(runner)
        runner.close()

    def _take(self, runner: Runner) -> None:
        """Hand the runner every command that waits; with nothing to advance, wait for one."""
        while True:
            try:
                command = self._commands.get(block=not runner.busy)
            except queue.Empty:
                return
            if command is None:
                return
            runner.submit(command)
