"""Text of users that shows what is in it, on a terminal and on a page alike."""

import unicodedata

# Control, invisible or turning text, lone surrogates, line ends: never raw.
_NEVER_RAW = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def escaped(text: str) -> str:
    """The text with everything that a terminal would obey, or nobody would see, written as an escape of Python's."""
    return "".join(_escape(mark) if unicodedata.category(mark) in _NEVER_RAW else mark for mark in text)


def _escape(mark: str) -> str:
    code = ord(mark)
    if code <= 0xFF:  # noqa: PLR2004  (what two digits hold)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  (what four digits hold)
