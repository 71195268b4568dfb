"""The trial: `deploy/try-hosts`."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from deploy.hosts.load import PROJECT, RANKING
from deploy.hosts.network import ADDRESSES, Network, awaited, awaited_none
from deploy.hosts.scenes import Counted, Scene, counted, play, read_events, scenes
from deploy.hosts.servers import WEBS, Servers

RECOVERY = 6.0
LONGEST_RUN = 1800


def main(description: str | None = __doc__, trial: "type[Trial] | None" = None, kind: type[Servers] = Servers) -> int:
    """Run the trial; 1 when something that was acknowledged is lost, twice there, not computed or stale."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--pooler", choices=["session", "transaction"], default="", help="web goes through PgBouncer")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each fault lasts")
    parser.add_argument("--keep", action="store_true", help="keep the logs")
    chosen = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("Only root makes network namespaces.")
    # Whatever hangs, the trial ends and cleans up.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f"This took longer than {LONGEST_RUN} s."))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    signal.alarm(LONGEST_RUN)
    home = Path(tempfile.mkdtemp(prefix="registry-hosts-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    home.chmod(0o755)
    try:
        with Network(home) as network:
            return (trial or Trial)(network, kind(network, home, chosen.pooler), chosen.seconds).run()
    except (RuntimeError, TimeoutError) as error:
        say(f"FAILED, before the end: {error}")
        return 1
    finally:
        if chosen.keep:
            print(f"Logs are in {home}.")
        else:
            shutil.rmtree(home, ignore_errors=True)


class Trial:
    """One run on a network of its own."""

    projects: Sequence[str] = (PROJECT,)

    def __init__(self, network: Network, servers: Servers, seconds: float) -> None:
        self.network, self.servers, self.seconds = network, servers, seconds
        self.file = servers.home / "events"
        self.faults: list[str] = []
        self.spans: dict[str, tuple[float, float, float]] = {}
        """When each fault began, was mended, and its scene ended."""
        self.token = ""
        self.broken = ExitStack()
        """What stays broken until the end: a primary that came back beside the promoted standby would be a second."""

    def run(self) -> int:
        begun = time.time()
        self.set_up()
        say(f"Everything runs after {time.time() - begun:.0f} s; each fault lasts {self.seconds:.0f} s.")
        for scene in self.scenes():
            self.spans[scene.name] = play(scene, self.seconds, RECOVERY)
        self.end()
        self.network.stop("load")
        events = read_events(self.file)
        table([counted(name, events, *span) for name, span in self.spans.items()])
        self.verify(events)
        self.look_for_leaks()
        for fault in self.faults:
            say(f"FAULT: {fault}")
        verdict = "FAILED" if self.faults else "Nothing is lost, twice, late or stale."
        say(f"{time.time() - begun:.0f} s in all. {verdict}")
        return 1 if self.faults else 0

    def set_up(self) -> None:
        servers = self.servers
        servers.make_authority()
        servers.start_redis()
        servers.start_databases()
        if servers.pooler:
            servers.start_pooler()
        servers.start_registry()
        servers.start_balancer()
        self.token = servers.registry("admin", "token", "--role", "admin", "--name", "trial").split()[-1]
        awaited(self.ready, within=120)
        for slug in self.projects:
            self.call("POST", "/api/v1/projects", f'{{"slug": "{slug}", "name": "Trial"}}')
        for host, role in (("worker1", "registry"), ("web1", "registry_web")):
            told = servers.registry(host, "doctor", "--web", "3", "--workers", "2", role=role)
            self.faults += [line for line in told.splitlines() if line.startswith("bad")]
        command = [sys.executable, "-m", "deploy.hosts.load", ADDRESSES["balancer"], self.token, str(self.file)]
        command += self.projects
        self.network.start("load", "clients", command)
        awaited(lambda: self.file.exists() and any(e["act"] == "acknowledged" for e in read_events(self.file)))

    def ready(self) -> bool:
        """readiness of all web processes"""
        try:
            for host in WEBS:
                self.network.run("clients", ["curl", "-fsS", f"http://{ADDRESSES[host]}:8000/readyz"])
        except RuntimeError:
            return False
        return True

    def call(self, method: str, path: str, body: str = "") -> str:
        sent = ["-H", "Content-Type: application/json", "-d", body] if body else []
        url = f"http://{ADDRESSES['balancer']}:8080{path}"
        token = ["-H", f"Authorization: Bearer {self.token}"]
        return self.network.run("clients", ["curl", "-fsS", "-X", method, *token, *sent, url])

    def scenes(self) -> list[Scene]:
        """What is broken, one after the other."""
        return scenes(self.network, self.servers)

    def end(self) -> None:
        """What happens last."""
        say(self.rehearse_restore())
        self.spans["failover: primary vanishes"] = self.fail_over()

    def rehearse_restore(self) -> str:
        """Delete a project, and bring it back from the backup and the archive of the log, on a server of its own."""
        awaited(self.ready)
        self.call("POST", "/api/v1/projects", '{"slug": "precious", "name": "Precious"}')
        moment = self.servers.sql("SELECT clock_timestamp()")
        time.sleep(1.0)
        self.call("DELETE", "/api/v1/projects/precious")
        self.servers.sql("SELECT pg_switch_wal()")
        begun = time.time()
        place = self.servers.restore_to(moment)
        live = "SELECT count(*) FROM projects WHERE slug = 'precious' AND deleted_at IS NULL"
        there, gone = self.servers.sql(live, "registry", place), self.servers.sql(live, "registry")
        grids = self.servers.sql("SELECT count(*) FROM grids", "registry", place)
        if (there, gone) != ("1", "0"):
            self.faults.append(f"the restored server has {there} of the deleted project, the live one {gone}")
        self.network.stop("postgres-restored")
        return f"Restored to a second before a deletion in {time.time() - begun:.1f} s, with {grids} grids."

    def fail_over(self) -> tuple[float, float, float]:
        """The primary vanishes for good; three seconds later the standby is promoted."""
        began = time.time()
        self.broken.enter_context(self.network.gone("db1"))
        time.sleep(3.0)
        self.servers.promote_standby()
        promoted = time.time()
        time.sleep(self.seconds + 2 * RECOVERY)
        return began, promoted, time.time()

    def verify(self, events: list[dict[str, Any]]) -> None:
        """What was acknowledged is there once, computed, and told by a ranking that is of all of it."""
        sql = self.servers.sql
        pending = f"SELECT count(*) FROM derivations WHERE state <> 'ready' -- {PROJECT}"
        begun = time.time()
        awaited_none(lambda: int(sql(pending, "registry")), "statistics")
        late = time.time() - begun
        acknowledged = {event["id"]: event["model"] for event in events if event["act"] == "acknowledged"}
        rows = [row.split("|") for row in sql("SELECT id, model, revision FROM grids", "registry").splitlines()]
        stored = {row[0]: row[1] for row in rows}
        lost = [one for one, model in acknowledged.items() if stored.get(one) != model]
        twice = len(rows) - len({row[1] for row in rows})
        revised = sum(row[2] != "1" for row in rows)
        computed = sql("SELECT count(*) FROM statistics", "registry")
        say(
            f"{len(acknowledged)} acknowledged, {len(rows)} stored: {len(lost)} lost, {twice} twice, {revised} revised,"
            f" {len(rows) - int(computed)} not computed (the last {late:.1f} s after the load)."
        )
        if lost or twice or revised or int(computed) != len(rows):
            self.faults.append("the stored grids are not the acknowledged ones")
        self.faults += [f"status {event['status']}: {event['told']}" for event in events if event["act"] == "defect"][
            :3
        ]
        # Rankings wait for one another, and each takes seconds on a busy machine.
        awaited(self.rankings_are_of_all, within=300, every=3.0)
        told = self.servers.registry("admin", "verify", "--json")
        if '"differences":[]' not in told.replace(" ", ""):
            self.faults.append(f"verify: {told[:300]}")

    def rankings_are_of_all(self) -> bool:
        """a ranking of every stored model in every experiment"""
        query = "SELECT slug, experiment, count(*) FROM grids JOIN projects ON projects.id = project_id GROUP BY 1, 2"
        for row in self.servers.sql(query, "registry").splitlines():
            project, experiment, models = row.split("|")
            told = json.loads(self.call("GET", f"/api/v1/{RANKING.format(project, experiment)}"))
            if len(told.get("ranking", ())) != int(models):
                return False
        return True

    def look_for_leaks(self) -> None:
        """Each web process has said why it refused, and no process has said a password."""
        for name in (*WEBS, "worker1", "worker2", "dispatcher"):
            log = (self.servers.home / f"{name}.log").read_text(errors="replace")
            if any(secret in log for secret in self.servers.secrets.values()):
                self.faults.append(f"a password stands in the log of {name}")
            if name in WEBS:
                if "database away" not in log:
                    self.faults.append(f"{name} has not said that the database was away")
                say(f"{name}: {log.count('database away')} × database away, {log.count('database back')} × back")


def table(rows: list[Counted]) -> None:
    say("| fault | acknowledged | answers | not 2xx | longest pause, s | last error after, s |")
    say("|---|---|---|---|---|---|")
    for row in rows:
        say(f"| {row.name} | {row.acknowledged} | {row.answers} | {row.refused} | {row.longest:.1f} | {row.back:.1f} |")


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
