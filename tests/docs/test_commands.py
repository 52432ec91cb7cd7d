"""Every command of `evenkeel` that a page tells people to type can be typed: verb, arguments and all."""

import re
import shlex
from argparse import RawDescriptionHelpFormatter
from importlib import import_module

import pytest

from cli.arguments import Parser
from cli.main import EXIT_CODES, VERBS
from tests.docs.test_pages import NAMED, ROOT, code_of

PLACES = {"<name>": "clicks", "<table>": "clicks/old", "DATASET": "clicks"}


def commands_of(page):
    """Lines and inline code that begin with the command; what stands for a name becomes one."""
    for pair in code_of(page):
        for line in "".join(pair).splitlines():
            found = re.match(r"(?:\$ )?(?:bin/)?evenkeel (\S.*)", line.strip())
            if found and not re.search(r"VERB|…|[\[|]", found[1].partition("#")[0]):
                yield found[1]


@pytest.mark.parametrize("page", NAMED)
def test_commands_can_be_typed(page):
    """A page that names a verb or an option that is gone would send people into an error."""
    for text in commands_of(page):
        for place, name in PLACES.items():
            text = text.replace(place, name)  # noqa: PLW2901  (the same line, filled in)
        verb, *rest = shlex.split(text.partition(" | ")[0], comments=True)
        assert verb in VERBS or verb == "--help", text
        if verb in VERBS and rest:
            parser = Parser(prog=verb, formatter_class=RawDescriptionHelpFormatter)
            module = import_module(f"cli.{verb.replace('-', '_')}")
            module.add_arguments(parser)
            parser.add_argument("--json", action="store_true")
            parser.parse_args(rest)


def test_exit_codes_are_told_as_help_tells_them():
    """Scripts are written from the page, and meet the command."""
    told = re.findall(
        r"^\| (\d+) \| (.+) \|$", (ROOT / "docs" / "terminal.md").read_text(), flags=re.MULTILINE
    )

    assert {int(code): meaning for code, meaning in told} == EXIT_CODES
