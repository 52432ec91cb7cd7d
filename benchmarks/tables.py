"""What a paper prints beside what we get, and why they differ."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One figure."""

    what: str
    paper: str  # "-" where the paper gives no number
    ours: str


@dataclass(frozen=True)
class Table:
    """One table or figure of a paper."""

    title: str
    lines: list[Line]
    difference: str  # explained

    def print(self) -> None:
        """As text, in columns as wide as they must be."""
        cells = [Line("", "paper", "ours"), *self.lines]
        widths = [max(len(getattr(line, name)) for line in cells) for name in ("what", "paper", "ours")]
        print(f"\n{self.title}")
        for line in cells:
            row = zip((line.what, line.paper, line.ours), widths, strict=True)
            print("  " + "  ".join(text.ljust(width) for text, width in row).rstrip())
        print(f"  {self.difference}", flush=True)
