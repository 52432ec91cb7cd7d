"""Set up this clone, or look at it: ``python3 -m bootstrap [setup | doctor | clean | airflow]``."""

import sys

WANTED = (3, 11)

# Runs under any Python, so that an old one gets a sentence instead of a syntax error.
if sys.version_info[:2] != WANTED:
    sys.exit(
        "Python must be version 3.11. Got %s at %s. "  # noqa: UP031
        "Install Python 3.11 and run `make PYTHON=/path/to/python3.11 ...`."
        % (".".join(str(part) for part in sys.version_info[:3]), sys.executable)
    )

from bootstrap.commands import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
