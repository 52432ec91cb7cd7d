"""``python -m cli``: the command ``evenkeel``."""

import os
import sys


def run() -> int:
    """The command. Loading it takes a moment, in which it can be interrupted too."""
    from cli.main import main

    return main(sys.argv[1:])


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
        end(run())
    except KeyboardInterrupt:
        sys.stderr.write("evenkeel: Interrupted before anything was done.\n")
        os._exit(130)
    except BrokenPipeError:  # whoever read our lines has seen enough
        os._exit(1)
