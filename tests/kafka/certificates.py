"""Certificates for tests: one authority, and files that it has signed, made by openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Authority:
    """An authority in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.file = directory / "ca.pem"
        self._key = directory / "ca.key"
        _openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
            "-keyout", str(self._key), "-out", str(self.file),
        )  # fmt: skip

    def signed(self, name: str) -> Path:
        """Return a file with a key and its certificate, for the owner `name` on this machine."""
        key, request, certificate = (self._directory / f"{name}.{end}" for end in ("key", "csr", "crt"))
        _openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
            "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(key), "-out", str(request),
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", str(request), "-CA", str(self.file), "-CAkey", str(self._key),
            "-days", "2", "-CAcreateserial", "-copy_extensions", "copy", "-out", str(certificate),
        )  # fmt: skip
        both = self._directory / f"{name}.pem"
        both.write_text(key.read_text() + certificate.read_text() + self.file.read_text())
        return both


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
