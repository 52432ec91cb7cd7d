"""The report's pictures, from plain numbers. The same numbers give the same bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

from spark_jobs.picture_svg import COLOURS, new_axes, svg_of

MAX_BARS = 48  # buckets that can be told apart at the width of a phone
MAX_NAMES = 3  # that stand side by side at that width
FEW = 6  # windows: where there are fewer, room is left for them
WIDE, NARROW, SMALL = (900, 300), (343, 260), (343, 210)  # pixels
Values = Sequence[float | None]  # None where a thing is not known
Loads = Mapping[str, Sequence[float]]  # two of them, by what the legend calls them


def draw_loads(loads: Loads, *, n_buckets: int, goal: float, size: tuple[int, int] = WIDE) -> str:
    """
    Loads per bucket, first as they were, then as a plan has them, in means of the latter, with the goal, as an SVG element.

    Few buckets are bars, each in its place. Many are two outlines, each from its hottest bucket to its coolest: how uneven they are
    stays visible however many there are. What is above the goal has a colour of its own. Buckets from ``n_buckets`` on are being emptied
    and count for no mean.
    """
    with new_axes(width=size[0], height=size[1]) as axes:
        _, after = loads.values()
        mean = sum(after) / n_buckets or 1.0
        draw = _draw_bars if len(after) <= MAX_BARS else _draw_outlines
        draw(axes, {name: [load / mean for load in of] for name, of in loads.items()}, 1 + goal)
        axes.axhline(1, color=COLOURS["muted"], linewidth=1, label="mean")
        axes.axhline(1 + goal, color=COLOURS["goal"], linewidth=1.2, linestyle="--", label="goal")
        axes.set_ylabel("load, in means")
        _legend_above(axes)
        return svg_of(axes)


def _draw_bars(axes: Any, loads: Loads, goal: float) -> None:
    hot = []
    for shift, colour, (name, heights) in zip((-0.2, 0.2), ("before", "after"), loads.items(), strict=True):
        places = [bucket + shift for bucket in range(len(heights))]
        axes.bar(places, heights, width=0.4, label=name, color=COLOURS[colour])
        hot += [(place, load - goal) for place, load in zip(places, heights, strict=True) if load > goal]
    if hot:
        above, excess = zip(*hot, strict=True)
        axes.bar(above, excess, bottom=goal, width=0.4, label="too much", color=COLOURS["hot"])
    axes.set_xlabel("bucket")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlim(-0.6, len(places) - 0.4)


def _draw_outlines(axes: Any, loads: Loads, goal: float) -> None:
    (old, before), (new, after) = ((name, sorted(of, reverse=True)) for name, of in loads.items())
    edges = range(len(after) + 1)
    axes.stairs(before, edges, fill=True, baseline=0, label=old, color=COLOURS["before"])
    hot = [load for load in before if load > goal]
    if hot:
        steps = range(len(hot) + 1)
        axes.stairs(hot, steps, fill=True, baseline=goal, label="too much", color=COLOURS["hot"])
    axes.stairs(after, edges, baseline=None, label=new, color=COLOURS["after"], linewidth=2)
    axes.set_xlabel(f"{len(after):,} buckets, hottest first")
    axes.set_xlim(0, len(after))
    axes.set_ylim(bottom=0)


def draw_frontier(budgets: Sequence[str], reached: Sequence[float], *, goal: float, planned: float) -> str:
    """θ within reach at each budget, one step a budget, beside the goal and what this plan has."""
    with new_axes(width=SMALL[0], height=SMALL[1]) as axes:
        axes.plot(
            range(len(budgets)),
            reached,
            marker="o",
            clip_on=False,
            color=COLOURS["after"],
            label="within reach",
        )
        axes.axhline(planned, color=COLOURS["other"], linewidth=1.2, linestyle=":", label="this plan")
        axes.axhline(goal, color=COLOURS["goal"], linewidth=1.2, linestyle="--", label="goal")
        axes.set_xticks(range(len(budgets)), budgets)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("θ")
        _legend_above(axes)
        return svg_of(axes)


def draw_lines(
    windows: Sequence[str],
    lines: Mapping[str, tuple[str, Values]],
    *,
    goal: float | None,
    size: tuple[int, int] = SMALL,
) -> str:
    """A line for each name: its colour's name and a value a window."""
    with new_axes(width=size[0], height=size[1]) as axes:
        for name, (colour, values) in lines.items():
            numbers = [float("nan") if value is None else value for value in values]
            axes.plot(
                range(len(windows)), numbers, marker="o", clip_on=False, color=COLOURS[colour], label=name
            )
        if goal is not None:
            axes.axhline(goal, color=COLOURS["goal"], linewidth=1.2, linestyle="--", label="goal")
        axes.set_ylabel("θ")
        _label_windows(axes, windows)
        return svg_of(axes)


def draw_counts(windows: Sequence[str], values: Sequence[float], *, unit: str) -> str:
    """A bar a window."""
    with new_axes(width=SMALL[0], height=SMALL[1]) as axes:
        axes.bar(range(len(windows)), values, width=0.6, color=COLOURS["after"], label=unit)
        axes.yaxis.get_major_locator().set_params(integer=all(value == int(value) for value in values))
        _label_windows(axes, windows)
        return svg_of(axes)


def _label_windows(axes: Any, windows: Sequence[str]) -> None:
    step = -(-len(windows) // 5)  # as many labels as fit on a phone
    shown = range(0, len(windows), step)
    axes.set_xticks(list(shown), [windows[i] for i in shown])
    axes.set_xlim(-0.5, max(len(windows), FEW) - 0.5)
    axes.tick_params(axis="x", pad=7)  # clear of the lowest label of the other axis
    axes.set_ylim(bottom=0)
    _legend_above(axes)


def _legend_above(axes: Any) -> None:
    """What is drawn as areas first, then lines, each as they were drawn."""
    from matplotlib.lines import Line2D

    shown = sorted(
        zip(*axes.get_legend_handles_labels(), strict=True), key=lambda mark: isinstance(mark[0], Line2D)
    )
    marks, names = zip(*shown, strict=True)
    is_tight = len(names) > MAX_NAMES and axes.figure.get_figwidth() * 72 < WIDE[0] / 2
    tight = {"columnspacing": 0.7, "handlelength": 1.0, "handletextpad": 0.4} if is_tight else {}
    axes.legend(
        marks, names, ncols=len(names), loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, **tight
    )
