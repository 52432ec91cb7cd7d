"""Which loaders read the window's feeds, how full they were, and what round robin and hash would have come to."""

from pages.parts import paragraph, section, table
from spark_jobs.feed_assignments import feed_sentences
from spark_jobs.run_facts import Facts

HEAD = [
    "feeds to loaders by",
    "straggler",
    "fullest loader",
    "mean fill",
    "above capacity",
    "feeds redirected",
]


def render_feeds(feeds: Facts | None) -> str:
    """Nothing where one table brings the events."""
    if feeds is None:
        return ""
    rows = [
        [
            one["how"],
            f"{one['straggler']:.2f}",
            f"{one['fullest']:.0%}",
            f"{one['mean_fill']:.0%}",
            f"{one['overloaded']:,}",
            f"{one['redirected']:,}",
        ]
        for one in feeds["by"]
    ]
    return section(
        "Feeds and loaders",
        paragraph(f"{feed_sentences(feeds)[0]}."),
        paragraph(
            "A straggler is the fullest loader over the mean one. The others have as many loaders and the same rows."
        ),
        table("Feeds and loaders", HEAD, rows),
    )
