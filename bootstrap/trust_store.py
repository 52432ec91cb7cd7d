"""
The machine's own certificates for the packaged Java, which knows only those it was built with.

A company's network often has a certificate authority of its own. A Java that was installed on the machine trusts it;
the packaged one must be told. Run as a module by the environment's Python, which has ``cryptography``.
"""

import os
import ssl
import subprocess
import sys
from pathlib import Path

from bootstrap.places import JAVA_SHIM, ROOT, TMP, VENV_PYTHON

STORE = TMP / "trusted.p12"
PASSWORD = "changeit"  # noqa: S105  (Java's customary one; the store holds public certificates only)
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


def trust_options(java_home: Path) -> list[str]:
    """Java options that make it trust what the machine trusts; none for a Java that the machine came with."""
    bundle = find_bundle()
    if java_home != JAVA_SHIM or bundle is None:
        return []
    command = [str(VENV_PYTHON), "-m", "bootstrap.trust_store", str(bundle), str(STORE)]
    if subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode:
        return []
    return [
        f"-Djavax.net.ssl.trustStore={STORE}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
    ]


def find_bundle() -> Path | None:
    """The file of certificates that the user chose (SSL_CERT_FILE), that Python uses, or that systems have."""
    candidates = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *BUNDLES)
    return next((Path(path) for path in candidates if path and Path(path).is_file()), None)


def write_store(bundle: Path, store: Path) -> None:
    """Turn a PEM bundle into a store that Java reads."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    certificates = x509.load_pem_x509_certificates(bundle.read_bytes())
    entries = [
        pkcs12.PKCS12Certificate(certificate, f"{number}".encode())
        for number, certificate in enumerate(certificates)
    ]
    store.write_bytes(pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(PASSWORD.encode())))


if __name__ == "__main__":
    write_store(Path(sys.argv[1]), Path(sys.argv[2]))
