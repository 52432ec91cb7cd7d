"""Loads of buckets as bars of text: what a terminal can show of the report's first picture."""

from collections.abc import Sequence

WIDTH = 28  # characters of the longest bar
EIGHTHS = " ▏▎▍▌▋▊▉"


def load_bars(before: Sequence[float], after: Sequence[float]) -> str:
    """One line a bucket, in mean loads; the longest bar of all is WIDTH long."""
    mean = sum(after) / len(after)
    unit = WIDTH * mean / max(*before, *after)  # characters of one mean
    lines = [f"{'bucket':>6}  {'load before, in means':<{WIDTH + 8}}load after"]
    for bucket, (old, new) in enumerate(zip(before, after, strict=True)):
        left = f"{_bar(old / mean * unit)} {old / mean:.2f}"
        lines.append(f"{bucket:>6}  {left:<{WIDTH + 8}}{_bar(new / mean * unit)} {new / mean:.2f}")
    return "\n".join(lines)


def _bar(length: float) -> str:
    """To the eighth of a character."""
    eighths = round(length * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
