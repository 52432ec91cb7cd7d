"""``python -m cli``: the command ``evenkeel``."""

import os
import sys

from cli.main import main


def end(code: int) -> None:
    """Leave without unloading libraries: idle threads of a table reader sometimes abort that, after all was done."""
    if "pyspark" in sys.modules:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session:
            session.stop()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal of another encoding still gets its lines
    try:
        end(main(sys.argv[1:]))
    except BrokenPipeError:  # whoever read our lines has seen enough
        os._exit(1)
