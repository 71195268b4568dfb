"""`registry up` in miniature: `up.py HOME [--user NAME] [--child NAME=PYTHON]… [--servers]`."""

import argparse
import json
import logging
import os
import pwd
import sys
from pathlib import Path

from registry.errors import Misconfigured
from registry.local.embedded import Child, Home, Postgres, Supervisor, Valkey
from registry.local.embedded.launch import change_user

parser = argparse.ArgumentParser()
parser.add_argument("home", type=Path)
parser.add_argument("--user")
parser.add_argument("--child", action="append", default=[])
parser.add_argument("--never-ready", action="store_true")
parser.add_argument("--servers", action="store_true")
options = parser.parse_args()
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(relativeCreated)d %(message)s")

if options.user:
    user = pwd.getpwnam(options.user)
    change_user(user.pw_uid, user.pw_gid, namespace=False)
    assert os.geteuid() != 0

try:
    with Home(options.home) as home, Supervisor(home) as supervisor:
        if options.servers:
            postgres, valkey = Postgres(home), Valkey(home)
            supervisor.start(valkey.child())
            supervisor.start(postgres.child())
            print("url", postgres.url, flush=True)
            print("url", valkey.client_url, flush=True)
        for text in options.child:
            name, _, program = text.partition("=")
            supervisor.start(Child(name, [sys.executable, "-u", "-c", program], env={"GREETING": "hello"}))
        if options.never_ready:
            print("waiting", flush=True)
            supervisor.start(Child("dull", ["sleep", "1000"], ready=lambda: False))
        print("pids", json.dumps(supervisor.pids), flush=True)
        supervisor.run()
except Misconfigured as error:
    sys.exit(str(error))
