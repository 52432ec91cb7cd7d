"""The packaged Java must trust what the machine trusts, or a company's network stops the first set-up."""

from pathlib import Path

from bootstrap import trust_store
from bootstrap.places import JAVA_SHIM


def test_the_users_own_bundle_comes_first(monkeypatch, tmp_path):
    """Who sets SSL_CERT_FILE has a reason."""
    bundle = tmp_path / "company.pem"
    bundle.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))

    assert trust_store.find_bundle() == bundle


def test_an_installed_java_is_left_alone():
    """It has a store of its own, kept by whoever installed it."""
    assert trust_store.trust_options(Path("/usr/lib/jvm/java-17")) == []


def test_unreadable_bundle_leaves_java_as_it_is(monkeypatch, tmp_path):
    """Then Java's own certificates are the best there is."""
    bundle = tmp_path / "broken.pem"
    bundle.write_text("not a certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    monkeypatch.setattr(trust_store, "STORE", tmp_path / "store.p12")

    assert trust_store.trust_options(JAVA_SHIM) == []
