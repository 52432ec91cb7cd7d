"""How the pages write numbers, times and buckets. Rounding is for people: the tables have all digits, and so have a page's figures."""

from collections.abc import Callable

from pages.parts import Cell, Figure

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
STEP = 1000  # from unit to unit
NOTHING = "-"  # where there is no figure


def size(n_bytes: float) -> str:
    """Bytes in the unit that keeps them short, by thousands: 2.16 MB."""
    power = 0
    while n_bytes >= STEP and power < len(UNITS) - 1:
        n_bytes, power = n_bytes / STEP, power + 1
    return f"{n_bytes:.2f} {UNITS[power]}" if power else f"{n_bytes:.0f} B"


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where there is none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2%}"


def figure(value: float | None, words: Callable[[float], str] = number) -> Cell:
    """The value in these words, with all its digits behind them; a dash where there is none."""
    return NOTHING if value is None else Figure(value, words(value))


def amount(value: float) -> str:
    """Of cost or of things: whole, by thousands."""
    return f"{value:,.0f}"


def moment(iso: str) -> str:
    """2026-01-03T00:00:00+00:00 → 2026-01-03 00:00."""
    return iso[:16].replace("T", " ")


def short_moments(isos: list[str]) -> list[str]:
    """The same for a picture's axis: days, where every window begins at midnight."""
    is_daily = all(iso[11:16] == "00:00" for iso in isos)
    return [iso[5:10] if is_daily else f"{iso[5:10]} {iso[11:16]}" for iso in isos]


def counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
