"""What people and scripts get: lines or one JSON document on standard output, progress on standard error."""

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from cli.text import paint, render

DONE, FAILED, USAGE, REFUSED, ATTENTION, INTERRUPTED = 0, 1, 2, 3, 4, 130


class Console:
    """Where a command speaks. With ``is_json`` people's lines are left out, and what was found is one document."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json
        self._progress = threading.Lock()
        self._step = ""  # shown in the last line of a terminal, with its seconds
        self._began = 0.0

    @property
    def columns(self) -> int | None:
        """How wide the answer may be; None where no terminal shows it."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def show(self, lines: Iterable[str], document: Any) -> None:
        """The answer: the document for scripts, otherwise the lines."""
        if self.is_json:
            sys.stdout.write(json.dumps(document, indent=1, ensure_ascii=True) + "\n")
        else:
            has_colours = _has_colours(sys.stdout)
            sys.stdout.writelines(render(line, has_colours=has_colours) + "\n" for line in lines)
        sys.stdout.flush()

    def say(self, line: str) -> None:
        """A line of progress."""
        with self._progress:
            self._wipe()
            sys.stderr.write(render(line, has_colours=_has_colours(sys.stderr)) + "\n")
            sys.stderr.flush()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Say that this step begins and how long it took; on a terminal, how long it takes so far."""
        self._step, self._began = name, time.monotonic()
        self.say(paint(f"{name} …", "bold"))
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(ended,), daemon=True)
        if sys.stderr.isatty():
            ticker.start()
        try:
            yield
        finally:
            ended.set()
            self.say(f"  {name} took {time.monotonic() - self._began:.1f} s")

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(1.0):
            with self._progress:
                sys.stderr.write(f"\r\x1b[K  {self._step}: {time.monotonic() - self._began:.0f} s so far")
                sys.stderr.flush()

    def _wipe(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")

    def ask(self, question: str) -> bool:
        """Whether a person at the terminal says yes."""
        self.say(paint(question, "bold") + " [y/N]")
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask() -> bool:
    """Whether somebody sits at the other end who can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def _has_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
