"""A container engine that keeps its containers in a file: as much of `docker` as deploy/upgrade says to it.

The file is STATE, JSON: `images`, `containers` by number with service and image, `broken` (a word of a command that
fails, or an image that never gets ready) and `said`, every command.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

STATE = Path(os.environ.get("STATE", "state"))


def main(arguments: list[str]) -> int:
    state: dict[str, Any] = json.loads(STATE.read_text())
    state["said"].append(" ".join(arguments))
    version, containers = os.environ.get("VERSION", ""), state["containers"]
    status = 0
    match arguments:
        case ["compose", "ps", *_options, service]:
            print(*(number for number, one in containers.items() if one[0] == service), sep="\n")
        case ["compose", "build", _service]:
            state["images"].append(version)
        case ["compose", "run", *_options, "migrate"]:
            status = int(state["broken"] == "migrate")
        case ["compose", "up", *options]:
            assert "--no-deps" not in options, "containers that `docker compose up` would replace"
            up(state, options, version)
        case ["image", "inspect", image]:
            status = int(image.split(":")[1] not in state["images"])
        case ["inspect", *_options, number]:
            print(f"results-registry:{containers[number][1]}")
        case ["exec", number, *_command]:
            status = int(containers[number][1] == state["broken"])
        case ["stop" | "rm", *options]:
            for number in options:
                if arguments[0] == "rm":
                    containers.pop(number, None)
    STATE.write_text(json.dumps(state))
    return status


def up(state: dict[str, Any], options: list[str], version: str) -> None:
    """Make containers: of web as many more as asked for, of others new ones."""
    containers = state["containers"]
    scale = {one.split("=")[0]: int(one.split("=")[1]) for one in options if "=" in one}
    for service in [one for one in options if one in ("web", "worker", "dispatcher")]:
        if "--no-recreate" not in options:
            for number in [number for number, one in containers.items() if one[0] == service]:
                del containers[number]
        while sum(one[0] == service for one in containers.values()) < scale.get(service, 1):
            state["next"] += 1
            containers[f"c{state['next']}"] = [service, version]
        while sum(one[0] == service for one in containers.values()) > scale.get(service, 1):
            del containers[max(number for number, one in containers.items() if one[0] == service)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
