"""The trial on a Citus cluster: `deploy/try-citus`."""

import subprocess
import sys
from contextlib import nullcontext
from typing import Any, ClassVar

from deploy.hosts.__main__ import Trial, main, say
from deploy.hosts.network import ADDRESSES, Network
from deploy.hosts.scenes import Scene
from deploy.hosts.servers import Servers

NODES = ("db2", "db3")
_CONNECTED = "SELECT citus_add_node('{}', 5432)"
_SETTINGS = """shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=require'
citus.local_hostname = '{}'
max_connections = 100
max_prepared_transactions = 100
wal_level = logical
"""


class Cluster(Servers):
    """A coordinator, `db1`, and its nodes; `db4` comes later."""

    databases: ClassVar[tuple[str, ...]] = ("db1", "db2", "db3", "db4")

    def start_databases(self) -> None:
        for host in self.databases:
            # The servers ask each other without passwords: nobody else is on this network.
            self.make_database(host, _SETTINGS.format(ADDRESSES[host]), "trust")
            place = self.home / host
            self.sql("CREATE ROLE registry LOGIN SUPERUSER", place=place)
            self.sql("CREATE DATABASE registry OWNER registry", place=place)
            self.sql("CREATE EXTENSION citus", "registry", place)
        self.cluster(f"SELECT citus_set_coordinator_host('{ADDRESSES['db1']}', 5432)")
        for host in NODES:
            self.cluster(_CONNECTED.format(ADDRESSES[host]))
        self.registry("admin", "migrate")
        self.registry("admin", "partition", "--citus", "--yes")
        self.registry("admin", "migrate", "--grant-web-role", "registry_web")

    def cluster(self, statement: str) -> str:
        """Answer of the coordinator."""
        return self.sql(statement, "registry")

    def environment(self, host: str, role: str) -> dict[str, str]:
        given = super().environment(host, role)
        others = "".join(f",{ADDRESSES[one]}:5432" for one in self.databases[1:])
        return given | {"REGISTRY_DATABASE_URL": given["REGISTRY_DATABASE_URL"].replace(others, "")}


class Killed:
    """A server dies with -9, and is started again."""

    def __init__(self, network: Network, servers: Servers, host: str) -> None:
        self._network, self._servers, self._host = network, servers, host

    def __enter__(self) -> None:
        self._network.kill(self._host)

    def __exit__(self, *_raised: Any) -> None:
        self._servers.start_postgres(self._host)


class Rebalanced:
    """A node comes, and takes its share of the shards."""

    def __init__(self, servers: Cluster) -> None:
        self._servers = servers

    def __enter__(self) -> None:
        self._servers.cluster(_CONNECTED.format(ADDRESSES["db4"]))
        self._servers.cluster("SELECT citus_rebalance_start()")

    def __exit__(self, *_raised: Any) -> None:
        self._servers.cluster("SELECT citus_rebalance_wait()")


class OnCluster(Trial):
    """The same load on several projects, which are on different nodes."""

    projects = tuple(f"trial{number}" for number in range(8))
    servers: Cluster

    def set_up(self) -> None:
        super().set_up()
        self.nodes = self.nodes_of_projects()

    def nodes_of_projects(self) -> dict[str, str]:
        """The address of the node that each project is on."""
        shard = "get_shard_id_for_distribution_column('stored_revisions', projects.id)"
        found = self.servers.cluster(f"SELECT slug, nodename FROM projects JOIN citus_shards ON shardid = {shard}")
        return dict(tuple(row.split("|")) for row in found.splitlines())  # type: ignore[misc]

    def scenes(self) -> list[Scene]:
        network, servers = self.network, self.servers
        return [
            Scene("nothing", nullcontext),
            Scene("a node is killed", lambda: Killed(network, servers, "db2")),
            Scene("the coordinator is killed", lambda: Killed(network, servers, "db1")),
            Scene("a node comes, shards move", lambda: Rebalanced(servers)),
        ]

    def end(self) -> None:
        """Nothing more: there is no other coordinator to fail over to."""

    def verify(self, events: list[dict[str, Any]]) -> None:
        """Also that who is on other nodes did not notice, that shards moved, and that they are guarded there."""
        super().verify(events)
        began, mended, _ = self.spans["a node is killed"]
        answers = [one for one in events if "project" in one and began + 1 < one["at"] < mended]
        for where, here in (("it", True), ("other nodes", False)):
            about = [one for one in answers if (self.nodes[one["project"]] == ADDRESSES["db2"]) == here]
            refused = [one["status"] for one in about if one["status"] not in (200, 201, 202, 404)]
            say(f"While a node was away: of {len(about)} answers about projects on {where} {len(refused)} were errors.")
            if set(refused) - {503} or (refused and not here):
                self.faults.append(f"projects on {where} were told {sorted(set(refused))}")
        moved = sum(node == ADDRESSES["db4"] for node in self.nodes_of_projects().values())
        say(f"{moved} of {len(self.nodes)} projects have moved to the new node.")
        try:
            told = self.servers.cluster("UPDATE stored_revisions SET cell_count = 0")
        except subprocess.CalledProcessError as error:
            told = error.stderr
        if "never changed" not in told:
            self.faults.append(f"revisions that have moved are not guarded: {told}")


if __name__ == "__main__":
    sys.exit(main(__doc__, OnCluster, Cluster))
