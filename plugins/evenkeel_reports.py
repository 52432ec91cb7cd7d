"""
The reports in Airflow's own UI: a page in the navigation that leads from datasets to runs to reports, and a tab on every Dag.

A dataset's reports are for whoever may read its Dag ``rebalance__<dataset>``; to others they are not there.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

from pages.document import document
from pages.parts import link, paragraph
from pages.reports import INDEX, datasets_with_reports, read_report

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse

PREFIX = "/evenkeel"
# Each page's own policy names its style by digest; this one holds for pages of every version, and for whatever else might lie there.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",  # a report is written again when its run is
}
Message = MutableMapping[str, Any]


async def serve(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """The reports' application, made on first use: every task's process loads this plugin, and only the API server serves it."""
    await reports_app()(scope, receive, send)


@cache
def reports_app() -> "FastAPI":
    from airflow.api_fastapi.core_api.security import GetUserDep, get_user
    from fastapi import Depends, FastAPI
    from fastapi.responses import HTMLResponse, RedirectResponse, Response

    app = FastAPI(dependencies=[Depends(get_user)], docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/")
    def datasets(user: GetUserDep) -> HTMLResponse:
        return _page(_list_datasets([name for name in datasets_with_reports() if _may_read(name, user)]))

    @app.get("/{dataset}/")
    def runs(dataset: str, user: GetUserDep) -> HTMLResponse:
        return _report(dataset, INDEX, user)

    @app.get("/{dataset}/{page}.html")
    def report(dataset: str, page: str, user: GetUserDep) -> HTMLResponse:
        return _report(dataset, page, user)

    @app.get("/dag/{dag_id}")
    def of_dag(dag_id: str, user: GetUserDep) -> Response:
        """To the runs of the dataset that the Dag works on: rebalance__clicks works on clicks."""
        dataset = dag_id.partition("__")[2]
        if dataset not in datasets_with_reports() or not _may_read(dataset, user):
            return _page(_not_there("This Dag has no reports yet. Its first run writes one."), status=404)
        return RedirectResponse(f"../{dataset}/", headers=HEADERS)

    return app


def _report(dataset: str, page: str, user: Any) -> "HTMLResponse":
    content = read_report(dataset, page) if _may_read(dataset, user) else None
    if content is None:
        return _page(_not_there("There is no such report."), status=404)
    return _page(content)


def _page(content: str | bytes, *, status: int = 200) -> "HTMLResponse":
    from fastapi.responses import HTMLResponse

    return HTMLResponse(content, status_code=status, headers=HEADERS)


def _may_read(dataset: str, user: Any) -> bool:
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails

    details = DagDetails(id=f"rebalance__{dataset}")
    return get_auth_manager().is_authorized_dag(method="GET", details=details, user=user)


def _list_datasets(names: list[str]) -> str:
    items = "".join(f"<li>{link(name, f'{name}/')}</li>" for name in names)
    body = f"<ul>{items}</ul>" if items else paragraph("No run has written a report yet.")
    return document("Reports | Evenkeel", f"<header><h1>Evenkeel: datasets</h1></header>\n{body}")


def _not_there(sentence: str) -> str:
    return document("Not found | Evenkeel", f"<h1>{escape(sentence)}</h1>")


def _address(path: str) -> str:
    """Below whatever path Airflow itself is served at."""
    return urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/") + PREFIX + path


class EvenkeelReports(AirflowPlugin):
    """Found by Airflow in its plugins folder."""

    name = "evenkeel_reports"
    fastapi_apps = [{"app": serve, "url_prefix": PREFIX, "name": "Evenkeel reports"}]  # noqa: RUF012  (as Airflow declares it)
    external_views = [  # noqa: RUF012  (the same)
        {
            "name": "Evenkeel reports",
            "href": _address("/"),
            "destination": "nav",
            "url_route": "evenkeel",
            "category": "browse",
        },
        {
            "name": "Reports",
            "href": _address("/dag/{DAG_ID}"),
            "destination": "dag",
            "url_route": "evenkeel-dag",
        },
    ]
