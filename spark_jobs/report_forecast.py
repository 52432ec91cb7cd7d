"""The forecast that had been made of the window beside what came, and what planning on it was worth."""

from pages.parts import Cell, paragraph, section, table
from spark_jobs.forecast_facts import REGRET, forecast_sentence, regret_sentence
from spark_jobs.report_words import amount, figure, share
from spark_jobs.run_facts import Facts

HEAD = ["item", "expected", "came", "off by"]
REGRET_HEAD = ["θ with that plan", "planned on the last window", "had it been known"]


def render_forecast(forecast: Facts | None) -> str:
    """Nothing where no plan had been made on a forecast of this window."""
    if forecast is None:
        return ""
    items = [{**forecast, "item": "all items"}, *forecast["items"]]
    return section(
        "Forecast and what came",
        paragraph(f"{forecast_sentence(forecast)[0].upper()}{forecast_sentence(forecast)[1:]}."),
        table("Forecast and what came", HEAD, [_cells(item) for item in items]),
        _regret(forecast["regret"]) if forecast["regret"] else "",
    )


def _cells(item: Facts) -> list[Cell]:
    costs = [figure(item[name], amount) for name in ("expected", "realised")]
    return [item["item"], *costs, figure(item["error"], share)]


def _regret(regret: Facts) -> str:
    figures = [figure(regret[name]) for name in REGRET]
    return paragraph(f"{regret_sentence(regret)}.") + table("Regret", REGRET_HEAD, [figures])
