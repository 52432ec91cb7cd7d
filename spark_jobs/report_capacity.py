"""How many loaders, buckets and mergers there should be, with the numbers behind it: a recommendation, never a change."""

from pages.parts import bullets, details, paragraph, section, table
from spark_jobs.capacity_facts import COST_OF, capacity_ceiling
from spark_jobs.run_facts import Facts

HEAD = ["workers", "verdict", "there are", "needed", "enough", "the numbers behind it", "cost of a row"]


def render_capacity(plan: Facts) -> str:
    capacity = plan["capacity"]
    if capacity is None:
        return ""
    rows = [
        [
            line["what"],
            line["verdict"],
            f"{line['present']:,}",
            f"{line['needed']:,}",
            f"{line['enough']:,}",
            line["reason"],
            capacity[COST_OF[line["what"]]]["source"],
        ]
        for line in capacity["lines"]
    ]
    return section(
        "Workers for the next window",
        paragraph(
            "A recommendation: nothing is resized unless you change it. Needed is what the load expected asks for, enough what the upper"
            " end of its interval does."
        ),
        table("Workers", HEAD, rows) if rows else paragraph("None yet: too little is known."),
        bullets(ceiling) if (ceiling := capacity_ceiling(capacity)) else "",
        details("What is not known", bullets(capacity["unknown"])) if capacity["unknown"] else "",
    )
