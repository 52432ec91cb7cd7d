"""The reports behind Airflow's login: a real API server, a real browser, real users."""

import http.client
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bootstrap.airflow_server import _end
from tests.browser import DESK, PHONE, pictures, running_browser, scrolls_sideways, visit, write_reports
from tests.dags.conftest import DATASET
from tests.dags.running_airflow import ROOT, _free_port, wait

pytestmark = [pytest.mark.airflow, pytest.mark.browser]

OUTSIDE = "nobody else's business"
PASSWORDS = {"admin": "correct horse", "nobody": "battery staple"}
LOCAL = {"127.0.0.1", ""}


@dataclass(frozen=True)
class Site:
    """Airflow's API server, and the folder whose reports it shows."""

    address: str
    warehouse: Path

    def client(self, user: str | None) -> httpx.Client:
        """As this user's browser would ask; None has not logged in."""
        client = httpx.Client(base_url=self.address, timeout=60)
        if user:
            client.cookies.set("_token", self.token(user), domain="127.0.0.1")
        return client

    def token(self, user: str) -> str:
        """What a login gives."""
        answer = httpx.post(
            f"{self.address}/auth/token", json={"username": user, "password": PASSWORDS[user]}, timeout=60
        )
        return str(answer.raise_for_status().json()["access_token"])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    """One server for the whole file: it takes a minute to start."""
    folder = tmp_path_factory.mktemp("air flow ü")
    warehouse = folder / "ware house"
    write_reports(warehouse / "reports" / "visits")
    (warehouse / "reports" / "visits" / "linked.html").symlink_to(folder / "secret.html")
    (folder / "secret.html").write_text(OUTSIDE)
    (warehouse / "secret.html").write_text(OUTSIDE)
    (folder / "datasets").mkdir()
    (folder / "datasets" / "visits.yaml").write_text(DATASET)
    (folder / "passwords.json").write_text(json.dumps(PASSWORDS))
    shutil.copyfile(ROOT / ".evenkeel" / "airflow" / "airflow.db", folder / "airflow.db")
    port = _free_port()
    env = os.environ | {
        "EVENKEEL_WAREHOUSE": str(warehouse),
        "EVENKEEL_DATASETS": str(folder / "datasets"),
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder / 'airflow.db'}",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(folder / "logs"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,nobody:",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(folder / "passwords.json"),
    }
    subprocess.run(["airflow", "dags", "reserialize"], env=env, check=True, capture_output=True)
    with (folder / "airflow.log").open("w") as log:
        server = subprocess.Popen(
            ["airflow", "api-server"], env=env, start_new_session=True, stdout=log, stderr=log
        )
    try:
        wait(lambda: _answers(server, port), "Airflow's API server", patience=300)
        yield Site(f"http://127.0.0.1:{port}", warehouse)
    finally:
        _end(server)


def _answers(server: "subprocess.Popen[bytes]", port: int) -> bool:
    assert server.poll() is None, "Airflow's API server has ended"
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v2/version", timeout=10).is_success
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize("path", ["/", "/visits/", "/visits/small.html", "/dag/rebalance__visits"])
def test_nobody_reads_reports_without_a_login(site, path):
    """Keys are customers' names: a report is as confidential as the table."""
    answer = site.client(None).get(f"/evenkeel{path}")

    assert answer.status_code == 401
    assert "visits" not in answer.text


@pytest.mark.parametrize("path", ["/visits/", "/visits/small.html", "/dag/rebalance__visits"])
def test_reports_are_for_those_who_may_read_the_dag(site, path):
    """Who has logged in but has no right to the Dag learns not even that there is a report."""
    client = site.client("nobody")

    assert client.get(f"/evenkeel{path}").status_code == 404
    assert "visits" not in client.get("/evenkeel/").text


@pytest.mark.parametrize(
    "path",
    [
        "/visits/none.html", "/orders/", "/orders/small.html", "/visits/linked.html", "/visits/../../secret.html",
        "/visits/%2e%2e%2f%2e%2e%2fsecret.html", "/..%2f/secret.html", "/%2e%2e/secret.html", "/visits/..%2f..%2fsecret.html",
        "/visits/small.html%00.html", "/visits/small", "/dag/rebalance__orders", "/dag/other",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_reports(site, path):
    """Whatever is asked for, only files that report_run names are served."""
    cookie = {"Cookie": f"_token={site.token('admin')}"}
    with closing(http.client.HTTPConnection(site.address.removeprefix("http://"))) as server:
        server.request("GET", f"/evenkeel{path}", headers=cookie)  # as it stands: no dots are tidied away
        answer = server.getresponse()

        assert answer.status == 404
        assert OUTSIDE not in answer.read().decode()


def test_pages_carry_the_headers_that_keep_them_harmless(site):
    """Should a page ever hold a script, no browser would run it."""
    answer = site.client("admin").get("/evenkeel/visits/small.html")

    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith(
        "default-src 'none'; style-src 'unsafe-inline';"
    )
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == (site.warehouse / "reports" / "visits" / "small.html").read_bytes()


@pytest.mark.parametrize("kind", ["rebalance", "roll_back", "maintain", "audit"])
def test_every_dag_of_a_dataset_leads_to_its_runs(site, kind):
    answer = site.client("admin").get(f"/evenkeel/dag/{kind}__visits", follow_redirects=True)

    assert answer.url.path == "/evenkeel/visits/"
    assert answer.status_code == 200


@pytest.fixture(scope="module")
def browser():
    with running_browser() as chromium:
        yield chromium


def _log_in(seen, site) -> None:
    page = seen.page
    page.locator("input[name=username]").fill("admin")
    page.locator("input[name=password]").fill(PASSWORDS["admin"])
    page.locator("button[type=submit]").click()
    page.get_by_role("button", name="Browse").wait_for()
    seen.complaints.clear()  # Airflow's own: before it shows the login it asks, and is refused


@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_user_finds_a_report_from_the_navigation(browser, site, screen):
    """Log in, open the page, choose the dataset, choose the run: all in Airflow's own UI, and nothing leaves the machine."""
    with visit(browser, site.address, screen=DESK) as seen:
        _log_in(seen, site)
        seen.page.get_by_role("button", name="Browse").click()
        seen.page.get_by_role("menuitem", name="Evenkeel reports").click()
        frame = seen.page.frame_locator("iframe")
        frame.get_by_role("link", name="visits").click()
        frame.get_by_role("link", name="2026-01-04 00:00").click()
        frame.get_by_role("heading", level=1, name="clicks 2026-01-03 00:00 held").wait_for()
        inner = seen.page.frames[1]

        seen.page.set_viewport_size(screen)
        assert seen.complaints == []
        assert seen.hosts() <= LOCAL
        assert len(pictures(inner)) == 7
        assert not scrolls_sideways(inner)


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_served_report_is_as_readable_as_the_file(browser, site, screen, colours):
    """The server's policy comes on top of the page's own: both together must let its style in."""
    with visit(browser, "about:blank", screen=screen, colours=colours) as seen:
        seen.page.context.add_cookies([{"name": "_token", "value": site.token("admin"), "url": site.address}])
        seen.page.goto(f"{site.address}/evenkeel/visits/large.html")

        assert seen.complaints == []
        assert not scrolls_sideways(seen.page)
        assert all(picture["letters"] >= 10 for picture in pictures(seen.page))
        assert seen.page.evaluate("getComputedStyle(document.querySelector('.tiles')).display") == "grid"


def test_dag_has_a_tab_with_its_datasets_runs(browser, site):
    """Whoever looks at a Dag is one click from what it did."""
    with visit(browser, site.address) as seen:
        _log_in(seen, site)
        seen.page.goto(f"{site.address}/dags/rebalance__visits")
        seen.page.get_by_role("link", name="Reports", exact=True).click()
        seen.page.frame_locator("iframe").get_by_role("heading", level=1, name="visits: all runs").wait_for()

        assert seen.complaints == []


def test_plugin_brings_nothing_heavy_into_airflows_processes():
    """Every task's process loads the plugins: what the plugin needs to serve, it imports when it serves."""
    code = (
        "import sys, plugins.evenkeel_reports;"
        "print([m for m in ('pyspark', 'matplotlib', 'numpy', 'pyarrow', 'airflow.api_fastapi.core_api.security')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert done.stdout.splitlines()[-1] == "[]"
