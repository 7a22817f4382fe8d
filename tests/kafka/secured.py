"""A Kafka that wants to know who is there: TLS, logins and rights."""

from __future__ import annotations

import subprocess
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from brookmere.broker import Broker

PASSWORD = 'ti"ger\\9'
"""With what a careless quotation would spoil."""


class Secured:
    """A broker with a listener for logins over TLS (SECURE) and one for certificates (TLS).

    The plain listener is for the tests themselves, which may do everything there.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._certify()
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        self.broker = Broker(
            directory / "kafka",
            listeners={"SECURE": "SASL_SSL", "TLS": "SSL"},
            properties={
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": str(directory / "broker.pem"),
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.ca),
                "listener.name.tls.ssl.client.auth": "required",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
                "listener.name.secure.plain.sasl.jaas.config": f'{plain} user_bob="bobs";',
                "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{scram};",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:admin;User:ANONYMOUS",
            },
            format_arguments=[
                "--add-scram",
                f"SCRAM-SHA-512=[name=alice,password={PASSWORD}]",
                "--add-scram",
                "SCRAM-SHA-512=[name=admin,password=admins]",
            ],
            tied=True,
        )

    @property
    def ca(self) -> Path:
        """The certificate that signs all others."""
        return self.directory / "ca.pem"

    @property
    def client(self) -> Path:
        """Key and certificate of a client, in one file."""
        return self.directory / "client.pem"

    def settings(
        self, user: str = "alice", password: str = PASSWORD, mechanism: str = "SCRAM-SHA-512"
    ) -> dict[str, str]:
        """Return the settings of an application of this user."""
        return {
            "bootstrap.servers": self.broker.servers("SECURE"),
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
        }

    def allow(self, user: str, kind: str, name: str, *operations: str, prefixed: bool = False) -> None:
        """Grant rights on a topic, a group or a transactional_id."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        pattern = ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL
        rights = [
            AclBinding(
                ResourceType[kind.upper()],
                name,
                pattern,
                f"User:{user}",
                "*",
                AclOperation[operation.upper()],
                AclPermissionType.ALLOW,
            )
            for operation in operations
        ]
        for future in admin.create_acls(rights).values():
            future.result()

    def _certify(self) -> None:
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test-ca",
            "-keyout", "ca.key", "-out", "ca.pem",
        )  # fmt: skip
        (self.directory / "names.cnf").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        for name in ("broker", "client"):
            self._openssl(
                "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.csr",
            )  # fmt: skip
            self._openssl(
                "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", "names.cnf", "-out", f"{name}.crt",
            )  # fmt: skip
            parts = [(self.directory / f"{name}.{end}").read_text() for end in ("key", "crt")]
            (self.directory / f"{name}.pem").write_text("".join(parts))

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)
