"""Servers of the trial: a certificate authority, PostgreSQL with a standby, Redis, a pooler, a balancer."""

import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from deploy.hosts.network import ADDRESSES, Network, awaited
from registry.local.embedded.programs import debian_binaries, wheel_binaries

USER = "nobody"
WEBS = ("web1", "web2", "web3")
WORKERS = ("worker1", "worker2")
_ACL = (
    "user registry on >{password} ~registry* ~_kombu* ~unacked* ~*celery.pidbox* ~celeryev* allchannels"
    " +@all -@dangerous -@admin +info +client"
)


@dataclass
class Servers:
    """Where everything lies, and the passwords, which are made anew each time."""

    network: Network
    home: Path
    pooler: str = ""
    primary: str = "db1"
    secrets: dict[str, str] = field(default_factory=dict)
    databases: ClassVar[tuple[str, ...]] = ("db1", "db2")
    """Those that the registry may ask, and that have certificates."""

    def __post_init__(self) -> None:
        for name in ("registry", "registry_web", "replicator", "redis"):
            self.secrets[name] = secrets.token_hex(16)
        found = [one for one in (*debian_binaries(), *wheel_binaries()) if (one / "pg_basebackup").exists()]
        if not found:
            raise SystemExit("No PostgreSQL with pg_basebackup is installed: apt-get install postgresql.")
        self._binaries = found[0]
        self.wal = self.home / "wal"
        self.base = self.home / "base"

    def program(self, name: str) -> str:
        return str(self._binaries / name)

    # Certificates

    def make_authority(self) -> None:
        """An authority of our own, and a certificate for each server under its address."""
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=trial",
                      "-keyout", "ca.key", "-out", "ca.pem")  # fmt: skip
        for host in (*self.databases, "redis", "pooler"):
            self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}",
                          "-keyout", f"{host}.key", "-out", f"{host}.csr")  # fmt: skip
            (self.home / f"{host}.ext").write_text(f"subjectAltName=IP:{ADDRESSES[host]},DNS:{host}")
            self._openssl("x509", "-req", "-in", f"{host}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                          "-days", "2", "-extfile", f"{host}.ext", "-out", f"{host}.pem")  # fmt: skip
            shutil.chown(self.home / f"{host}.key", USER)
            (self.home / f"{host}.key").chmod(0o600)

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.home, check=True, capture_output=True)

    # PostgreSQL

    def start_databases(self) -> None:
        """A primary and its standby, and the tables in them."""
        self.start_primary()
        self.start_standby()
        self.registry("admin", "migrate", "--grant-web-role", "registry_web")

    def start_primary(self) -> None:
        """A primary with TLS and passwords that archives its log, its roles, and a backup of it."""
        for directory in (self.wal, self.base, self.home / "db2"):
            directory.mkdir(mode=0o700)
            shutil.chown(directory, USER)
        archive = f"wal_level = replica\narchive_mode = on\narchive_command = 'cp %p {self.wal}/%f'\nhot_standby = on\n"
        self.make_database("db1", f"{archive}max_connections = 60\n", "scram-sha-256")
        for role in ("registry", "registry_web", "replicator"):
            rights = {"registry": "CREATEROLE", "replicator": "REPLICATION"}.get(role, "")
            self.sql(f"CREATE ROLE {role} LOGIN {rights} PASSWORD '{self.secrets[role]}'")
        self.sql("CREATE DATABASE registry OWNER registry")

    def make_database(self, host: str, settings: str, trust: str) -> None:
        """An empty server on a host that takes TLS alone; `trust` is how it knows who asks."""
        place = self.home / host
        place.mkdir(mode=0o700)
        shutil.chown(place, USER)
        data = place / "data"
        initdb = [self.program("initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8"]
        self.network.run(host, initdb, user=USER)
        (data / "pg_hba.conf").write_text(
            "local all all trust\nlocal replication all trust\n"
            f"hostssl all all 10.77.0.0/24 {trust}\nhostssl replication all 10.77.0.0/24 {trust}\n"
        )
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"ssl = on\nssl_ca_file = '{self.home}/ca.pem'\nlog_min_messages = warning\n{settings}")
        self.start_postgres(host)

    def start_standby(self) -> None:
        """A synchronous standby from a backup of the primary, which is kept to restore from too."""
        source = f"host={ADDRESSES['db1']} user=replicator sslmode=verify-full sslrootcert={self.home}/ca.pem"
        password = {"PGPASSWORD": self.secrets["replicator"]}
        take = [self.program("pg_basebackup"), "-d", source, "-c", "fast", "-X", "stream", "-D"]
        self.network.run("db2", [*take, str(self.base / "data")], password, USER)
        self.network.run("db2", ["cp", "-a", str(self.base / "data"), str(self.home / "db2" / "data")], user=USER)
        data = self.home / "db2" / "data"
        with (data / "postgresql.conf").open("a") as file:
            connection = f"{source} password={self.secrets['replicator']} application_name=standby connect_timeout=3"
            file.write(f"primary_conninfo = '{connection}'\n")
        (data / "standby.signal").touch()
        shutil.chown(data / "standby.signal", USER)
        self.start_postgres("db2")
        with (self.home / "db1" / "data" / "postgresql.conf").open("a") as file:
            file.write("synchronous_standby_names = 'standby'\n")
        self.sql("SELECT pg_reload_conf()")
        awaited(lambda: self.sql("SELECT sync_state FROM pg_stat_replication") == "sync")

    def start_postgres(self, host: str) -> None:
        """Start the server that a host has, and wait until it answers."""
        place = self.home / host
        command = [self.program("postgres"), "-D", str(place / "data"), "-k", str(place), "-h", ADDRESSES[host]]
        tls = ["-c", f"ssl_cert_file={self.home}/{host}.pem", "-c", f"ssl_key_file={self.home}/{host}.key"]
        self.network.start(f"postgres-{host}", host, [*command, *tls], user=USER)
        awaited(lambda: self._answers(place))

    def _answers(self, place: Path) -> bool:
        asked = [self.program("psql"), "-h", str(place), "-U", "postgres", "-Atc", "SELECT 1"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0

    def sql(self, statement: str, database: str = "postgres", place: Path | None = None) -> str:
        """Answer to a statement of the superuser, over the socket of the primary or of another directory."""
        where = ["-h", str(place or self.home / self.primary), "-U", "postgres", "-d", database]
        command = [self.program("psql"), *where, "-v", "ON_ERROR_STOP=1", "-Atqc", statement]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()

    def promote_standby(self) -> None:
        self.sql("SELECT pg_promote()", place=self.home / "db2")
        self.primary = "db2"
        if self.pooler:
            self.write_pooler()
            self.network.processes["pgbouncer"].send_signal(1)

    def restore_to(self, moment: str) -> Path:
        """Directory of a server that was restored from the backup and the archive to a moment."""
        place = self.home / "restored"
        place.mkdir(mode=0o700)
        shutil.chown(place, USER)
        self.network.run("admin", ["cp", "-a", str(self.base / "data"), str(place / "data")], user=USER)
        with (place / "data" / "postgresql.conf").open("a") as file:
            file.write(
                f"restore_command = 'cp {self.wal}/%f %p'\nrecovery_target_time = '{moment}'\n"
                "recovery_target_action = 'promote'\narchive_mode = off\nssl = off\n"
            )
        (place / "data" / "recovery.signal").touch()
        shutil.chown(place / "data" / "recovery.signal", USER)
        command = [self.program("postgres"), "-D", str(place / "data"), "-k", str(place), "-h", ""]
        self.network.start("postgres-restored", "admin", command, user=USER)

        def promoted() -> bool:
            """the end of the recovery"""
            return self._answers(place) and self.sql("SELECT pg_is_in_recovery()", place=place) == "f"

        awaited(promoted, within=120)
        return place

    # The others

    def start_redis(self) -> None:
        acl = "user default off\n" + _ACL.format(password=self.secrets["redis"])
        (self.home / "redis.conf").write_text(
            f"port 0\ntls-port 6379\nbind {ADDRESSES['redis']}\ntls-cert-file {self.home}/redis.pem\n"
            f"tls-key-file {self.home}/redis.key\ntls-ca-cert-file {self.home}/ca.pem\ntls-auth-clients no\n"
            f"maxmemory-policy noeviction\nsave ''\n{acl}\n"
        )
        self.network.start("redis", "redis", ["redis-server", str(self.home / "redis.conf")], user=USER)

    def write_pooler(self) -> None:
        secrets_of = self.sql("SELECT rolname, rolpassword FROM pg_authid WHERE rolname LIKE 'registry%'").splitlines()
        users = "".join('"{}" "{}"\n'.format(*line.split("|", 1)) for line in secrets_of)
        (self.home / "users").write_text(users)
        (self.home / "pgbouncer.ini").write_text(
            f"[databases]\nregistry = host={ADDRESSES[self.primary]} port=5432\n"
            f"[pgbouncer]\nlisten_addr = {ADDRESSES['pooler']}\nlisten_port = 5432\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {self.home}/users\npool_mode = {self.pooler}\n"
            "default_pool_size = 20\nserver_connect_timeout = 3\nserver_login_retry = 1\nquery_wait_timeout = 5\n"
            f"client_tls_sslmode = require\nclient_tls_cert_file = {self.home}/pooler.pem\n"
            f"client_tls_key_file = {self.home}/pooler.key\n"
            f"server_tls_sslmode = verify-full\nserver_tls_ca_file = {self.home}/ca.pem\n"
        )

    def start_pooler(self) -> None:
        self.write_pooler()
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            raise SystemExit("No pgbouncer is installed: apt-get install pgbouncer.")
        self.network.start("pgbouncer", "pooler", [program, str(self.home / "pgbouncer.ini")], user=USER)

    def start_balancer(self) -> None:
        """nginx with what `deploy/nginx.conf` says about upstreams."""
        webs = "".join(f"server {ADDRESSES[host]}:8000 max_fails=1 fail_timeout=2s; " for host in WEBS)
        (self.home / "nginx.conf").write_text(
            f"daemon off; pid {self.home}/nginx.pid; error_log stderr crit; events {{}}\n"
            f"http {{ access_log off; client_body_temp_path {self.home}/body; proxy_temp_path {self.home}/proxy;\n"
            f"upstream webs {{ {webs} keepalive 16; }}\n"
            f"server {{ listen {ADDRESSES['balancer']}:8080; location / {{ proxy_pass http://webs;\n"
            'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;\n'
            "proxy_set_header X-Forwarded-For $remote_addr; proxy_connect_timeout 2s; proxy_read_timeout 40s;\n"
            "proxy_next_upstream error timeout; proxy_next_upstream_timeout 5s; } } }\n"
        )
        command = ["nginx", "-c", str(self.home / "nginx.conf")]
        self.network.run("balancer", [*command, "-t"])  # says what is wrong with it, or with this nginx
        self.network.start("nginx", "balancer", command)

    # The registry

    def environment(self, host: str, role: str) -> dict[str, str]:
        """Settings of a process of the registry on a host."""
        servers = ",".join(f"{ADDRESSES[one]}:5432" for one in self.databases)
        pooled = bool(self.pooler) and role == "registry_web"
        where = f"{ADDRESSES['pooler']}:5432" if pooled else servers
        tls = f"sslmode=verify-full&sslrootcert={quote(str(self.home / 'ca.pem'))}"
        alive = "" if pooled else "&target_session_attrs=read-write"
        return {
            "REGISTRY_DATABASE_URL": f"postgresql://{role}:{self.secrets[role]}@{where}/registry?{tls}{alive}",
            "REGISTRY_POOLER": self.pooler if pooled else "",
            "REGISTRY_REDIS_URL": f"rediss://registry:{self.secrets['redis']}@{ADDRESSES['redis']}:6379/0"
            f"?ssl_ca_certs={quote(str(self.home / 'ca.pem'))}",
            "REGISTRY_HOST": ADDRESSES[host],
            "REGISTRY_PORT": "8000",
            "REGISTRY_HOSTS": "*",
            "REGISTRY_PROXIES": "1",
            "REGISTRY_WORKER_PROCESSES": "1",
            "REGISTRY_WEB_PASSWORD": self.secrets["registry_web"],
            "REGISTRY_TOKEN_RATE": "0",
            "REGISTRY_ADDRESS_RATE": "0",
            "C_FORCE_ROOT": "1",
        }

    def registry(self, host: str, *arguments: str, role: str = "registry") -> str:
        """Output of a command `registry …` on a host."""
        command = [sys.executable, "-m", "registry", *arguments]
        return self.network.run(host, command, self.environment(host, role))

    def start_registry(self) -> None:
        for host in WORKERS:
            command = [sys.executable, "-m", "registry", "worker"]
            self.network.start(host, host, command, self.environment(host, "registry"))
        command = [sys.executable, "-m", "registry", "dispatch"]
        self.network.start("dispatcher", "dispatcher", command, self.environment("dispatcher", "registry"))
        for host in WEBS:
            command = [sys.executable, "-m", "registry", "serve"]
            self.network.start(host, host, command, self.environment(host, "registry_web"))
