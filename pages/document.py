"""A whole HTML document that stands alone: its style inside it, no script, and a policy that lets nothing else in."""

import base64
import hashlib
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")


def document(title: str, body: str) -> str:
    """A document with this title (text) and body (HTML). It may be mailed, archived and opened from a disk."""
    return _DOCUMENT.format(policy=policy(STYLE), title=escape(title), style=STYLE, body=body)


def policy(style: str) -> str:
    """
    The Content-Security-Policy that a page carries: this one style sheet, by its digest, and nothing else at all.

    So no page may use a ``style`` attribute, pictures included: whatever slipped through as HTML could then not even change how
    the page looks.
    """
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
