"""A running application and its registry: schemas by HTTP, subjects, logins, and a registry that is away."""

from __future__ import annotations

import io
import json
import ssl
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.registry.server.server import RegistryServer
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")

OLD = '{"type":"record","name":"Order","fields":[{"name":"id","type":"int"}]}'
NEW = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},'
    '{"name":"note","type":"string","default":"none"}]}'
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with RegistryServer(port=0) as running:
        yield running


def program(**registry: Any) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("avro", key=bm.Text(), value=bm.Avro(NEW, **registry))
    (
        app.stream("in")
        .map_values(lambda order: F.struct(order.id, F.upper(order.note).alias("note")))
        .to("out", value=bm.Avro(NEW, **registry))
    )
    return app


def framed(id: int, schema: str, value: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), value)
    return b"\0" + id.to_bytes(4, "big") + out.getvalue()


def test_schemas_of_writers_come_from_the_registry(home: Home, server: RegistryServer) -> None:
    client = bm.registry.RegistryClient(server.url)
    old = client.register("in-value", OLD)
    new = client.register("in-value", NEW)
    home.write("in", framed(old, OLD, {"id": 1}), framed(new, NEW, {"id": 2, "note": "hot"}))

    home.run(program(), schema__registry__url=server.url)

    reader = bm.Avro(registry=server.url, subject="out-value")
    assert home.read("out", reader) == [{"id": 1, "note": "NONE"}, {"id": 2, "note": "HOT"}]
    assert client.subjects() == ["in-value", "out-value"]
    assert client.latest("out-value").id == new


def test_an_unknown_id_is_a_bad_record(home: Home, server: RegistryServer) -> None:
    bm.registry.RegistryClient(server.url).register("in-value", OLD)
    home.write("in", framed(77, OLD, {"id": 1}), framed(1, OLD, {"id": 2}))

    with pytest.raises(
        bm.errors.DeserializationError, match=f"the registry {server.url} has no schema with the id 77"
    ):
        home.run(program(registry=server.url))

    home.run(program(registry=server.url), deserialization__exception__handler="continue")
    reader = bm.Avro(registry=server.url, subject="out-value")
    assert home.read("out", reader) == [{"id": 2, "note": "NONE"}]


def test_a_registry_that_is_away_stops_the_application_and_loses_nothing(home: Home) -> None:
    with RegistryServer(port=0) as server:
        first = bm.registry.RegistryClient(server.url).register("in-value", OLD)
        home.write("in", framed(first, OLD, {"id": 1}))
        patient = bm.Registry(server.url, patience=timedelta(milliseconds=300))
        application = home.application(
            program(registry=patient), deserialization__exception__handler="continue"
        )
        application.start()
        application.process_all_available()
    # A schema is needed that nobody asked for while the registry was there.
    home.write("in", framed(first + 1, NEW, {"id": 2, "note": "hot"}))
    assert application.wait("60s")

    assert isinstance(application.error, bm.errors.EngineError)
    assert "does not answer" in str(application.error)
    application.stop()
    with RegistryServer(port=server.port) as again:
        for text in (OLD, NEW):
            bm.registry.RegistryClient(again.url).register("in-value", text)
        home.run(program(registry=again.url))
        reader = bm.Avro(registry=again.url, subject="out-value")
        assert home.read("out", reader) == [{"id": 1, "note": "NONE"}, {"id": 2, "note": "HOT"}]


def test_a_registry_that_is_away_at_the_start_is_named(home: Home) -> None:
    with RegistryServer(port=0) as server:
        address = server.url
    home.write("in", b"x")

    with pytest.raises(bm.errors.RegistryError, match="does not answer"):
        home.run(program(registry=address))


def test_a_login_comes_from_the_environment_and_is_never_shown(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "s3cret")
    with RegistryServer(port=0, basic_auth=("ada", "s3cret")) as server:
        login = ("ada", "${env:REGISTRY_PASSWORD}")
        old = bm.registry.RegistryClient(server.url, basic_auth=("ada", "s3cret")).register("in-value", OLD)
        home.write("in", framed(old, OLD, {"id": 1}))

        app = program(registry=bm.Registry(server.url, basic_auth=login))
        home.run(app)

        assert len(list(home.topics["out"].read(0))) == 1
        assert "s3cret" not in repr(app.build())
        settings = {
            "schema__registry__url": server.url,
            "basic__auth__user__info": "ada:${env:REGISTRY_PASSWORD}",
        }
        application = home.application(program(), **settings)
        assert "REGISTRY_PASSWORD" not in repr(application.config)
        with application:
            application.process_all_available()


def test_a_check_registers_nothing(home: Home, server: RegistryServer) -> None:
    client = bm.registry.RegistryClient(server.url)
    home.write("in", framed(client.register("in-value", OLD), OLD, {"id": 1}))
    home.run(program(registry=server.url))
    changed = bm.StreamsBuilder("avro", key=bm.Text(), value=bm.Avro(NEW, registry=server.url))
    changed.stream("in").to("elsewhere", value=bm.Avro(NEW, registry=server.url))

    home.application(changed, auto__create__topics=True).check()

    assert client.subjects() == ["in-value", "out-value"]


def test_register_false_expects_the_schema_and_use_latest_takes_the_newest(
    home: Home, server: RegistryServer
) -> None:
    client = bm.registry.RegistryClient(server.url)
    home.write("in", framed(client.register("in-value", OLD), OLD, {"id": 1}))

    with pytest.raises(bm.errors.UnknownSchemaError, match="out-value"):
        home.run(program(registry=server.url, register=False))

    later = NEW.replace(
        '"default":"none"}', '"default":"none"},{"name":"more","type":["null","int"],"default":null}'
    )
    client.register("out-value", later)
    home.run(program(registry=server.url, use_latest=True))
    reader = bm.Avro(registry=server.url, subject="out-value")
    assert home.read("out", reader) == [{"id": 1, "note": "NONE", "more": None}]


def test_a_registry_may_ask_for_a_certificate(home: Home, tmp_path: Path) -> None:
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {key} -out {cert} "
        "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.load_verify_locations(cert)
    context.verify_mode = ssl.CERT_REQUIRED
    with RegistryServer(port=0, tls=context) as server:
        registry = bm.Registry(server.url, ca_file=cert, cert_file=cert, key_file=key)
        old = registry.client().register("in-value", OLD)
        home.write("in", framed(old, OLD, {"id": 1}))

        home.run(program(registry=registry))

        reader = bm.Avro(registry=registry, subject="out-value")
        assert home.read("out", reader) == [{"id": 1, "note": "NONE"}]
