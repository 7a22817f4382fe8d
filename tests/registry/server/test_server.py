"""The server speaks HTTP on loopback, keeps what it answered for, and says who may not ask."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brookmere.errors import IncompatibleSchemaError, RegistryError
from brookmere.registry import RegistryClient
from brookmere.registry.server.daemon import running
from brookmere.registry.server.server import RegistryServer

RECORD = '{"type":"record","name":"R","fields":[{"name":"id","type":"string"}]}'


def test_a_client_talks_to_it(client: RegistryClient) -> None:
    id = client.register("orders-value", RECORD)

    assert RegistryClient(client.url).schema(id).text == RECORD
    assert RegistryClient(client.url + "/").subjects() == ["orders-value"]


def test_an_incompatible_schema_reaches_the_client_with_the_registrys_words(client: RegistryClient) -> None:
    client.register("a", RECORD)
    other = RECORD.replace("string", "int")

    with pytest.raises(IncompatibleSchemaError, match="string cannot be read as int") as refusal:
        client.register("a", other)

    assert (refusal.value.status, refusal.value.code) == (409, 409)
    assert client.test_compatibility("a", other).reasons == (
        "the new schema cannot read data of version 1: R.id: string cannot be read as int",
    )
    assert client.test_compatibility("new", other).compatible
    client.set_compatibility("NONE", "a")
    assert client.compatibility("a") == "NONE"
    client.register("a", other)


def test_the_content_type_is_confluents(server: RegistryServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/subjects")
    first = connection.getresponse()
    content = first.read()
    # The connection stays open for the next request.
    connection.request("POST", "/subjects/a", body=b"schema=1", headers={"Content-Type": "text/plain"})
    second = connection.getresponse()
    refusal = json.loads(second.read())
    connection.close()

    assert (first.status, content) == (200, b"[]")
    assert first.getheader("Content-Type") == "application/vnd.schemaregistry.v1+json"
    assert (second.status, refusal["error_code"]) == (415, 415)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Content-Length: 99999999999", 413),
        ("Transfer-Encoding: chunked", 411),
        ("Content-Length: x", 411),
    ],
)
def test_a_request_without_end_is_refused(server: RegistryServer, headers: str, status: int) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(f"POST /subjects/a HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n".encode())
        assert connection.recv(100).startswith(f"HTTP/1.1 {status}".encode())


def test_a_password_is_asked_for() -> None:
    with RegistryServer(port=0, basic_auth=("ada", "s3cret")) as server:
        assert RegistryClient(server.url, basic_auth=("ada", "s3cret")).subjects() == []
        assert RegistryClient(server.url.replace("//", "//ada:s3cret@")).subjects() == []
        with pytest.raises(RegistryError, match=r"401.*basic_auth=") as refusal:
            RegistryClient(server.url, basic_auth=("ada", "wrong")).subjects()
        assert "wrong" not in str(refusal.value)


def test_schemas_outlive_the_server(tmp_path: Path) -> None:
    with RegistryServer(tmp_path, port=0) as server:
        client = RegistryClient(server.url)
        first = client.register("a", RECORD)
        client.register("b", '"int"')
        client.set_compatibility("FULL", "a")

    with RegistryServer(tmp_path, port=0) as server:
        client = RegistryClient(server.url)
        assert client.lookup("a", RECORD) == first
        assert client.compatibility("a") == "FULL"
        assert client.register("c", '"long"') == 3


def test_the_port_and_the_directory_belong_to_one_server(server: RegistryServer, tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot listen on port"):
        RegistryServer(port=server.port)
    with pytest.raises(RegistryError, match="belongs to a running schema registry"):
        RegistryServer(tmp_path / "registry", port=0)


def test_a_stopped_server_answers_no_requests(tmp_path: Path) -> None:
    server = RegistryServer(tmp_path, port=0).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/subjects")
    connection.getresponse().read()

    server.stop()

    with pytest.raises((OSError, http.client.HTTPException)):
        _ask_again(connection)
    connection.close()


def _ask_again(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", "/subjects")
    connection.getresponse()


def test_many_clients_at_once_get_one_id_for_one_schema(server: RegistryServer) -> None:
    def register(number: int) -> int:
        return RegistryClient(server.url).register(
            f"s{number % 4}", f'{{"type":"fixed","name":"F{number % 3}","size":1}}'
        )

    RegistryClient(server.url).set_compatibility("NONE")
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(register, range(48)))

    assert sorted(set(ids)) == [1, 2, 3]
    assert all(ids[number] == ids[number % 3] for number in range(48))


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {key} -out {cert} "
        "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return cert, key


def test_it_is_reached_over_tls(certificate: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with RegistryServer(port=0, tls=context) as server:
        assert server.url.startswith("https://")
        assert RegistryClient(server.url, ca_file=certificate[0]).subjects() == []
        with pytest.raises(RegistryError, match=r"does not answer.*certificate"):
            RegistryClient(server.url).subjects()


def test_a_missing_certificate_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"nowhere\.pem"):
        RegistryClient("https://localhost:1", ca_file=tmp_path / "nowhere.pem")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "brookmere.registry", "--dir", str(tmp_path), "--port", "0"]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield started
    started.kill()
    started.wait()


def test_what_was_answered_survives_kill_9(process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    deadline = time.monotonic() + 60
    while (found := running(tmp_path)) is None:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    client = RegistryClient(found.url)
    client.set_compatibility("NONE")
    ids: dict[int, int] = {}
    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(_kill_after_some, process, tmp_path / "schemas.jsonl")
        with pytest.raises(RegistryError, match="does not answer"):
            _register_for_ever(client, ids)
        killing.result()

    with RegistryServer(tmp_path, port=0) as server:
        again = RegistryClient(server.url)
        for number, id in ids.items():
            assert again.lookup("a", f'{{"type":"fixed","name":"F","size":{number}}}') == id
        assert len(again.versions("a")) in (len(ids), len(ids) + 1)
    assert len(ids) >= 10


def _register_for_ever(client: RegistryClient, ids: dict[int, int]) -> None:
    for number in range(100_000):
        ids[number] = client.register("a", f'{{"type":"fixed","name":"F","size":{number}}}')


def _kill_after_some(process: subprocess.Popen[bytes], journal: Path) -> None:
    deadline = time.monotonic() + 60
    while journal.read_bytes().count(b"\n") < 21 and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
