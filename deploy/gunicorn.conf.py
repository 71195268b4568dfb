"""How gunicorn runs the web process: one process with many threads, so that its /metrics are one scrape target.

More capacity is more containers (`--scale web=N`), not more processes in one of them.
"""

import os as __os  # every name of this file without underscores is a setting
import sys as __sys

# gunicorn has put the current directory before all others, so that a registry.py there would be ours.
__here = __os.getcwd()
__sys.path[:] = [one for one in __sys.path if one != __here]

import results_registry as __client  # noqa: F401, E402 -- found now, as what follows
from registry.api import admission as __admission  # noqa: E402
from registry.settings import Settings  # noqa: E402

# What is not there gunicorn would put first again.
__sys.path.append(__here)

settings = Settings.from_environment()

bind = f"{settings.host}:{settings.port}"
worker_class = "gthread"
workers = 1
threads = settings.web_threads + settings.max_streams + __admission.SPARE_THREADS  # a thread is made when none is idle
worker_connections = 1000 + threads

# The port opens when requests can be answered. The fork is safe: an import starts no thread and opens no connection.
preload_app = True

# No max_requests: the one worker would stop, for as long as its slowest request takes, behind a port that stays open.
graceful_timeout = 10
limit_request_line = 8190  # what nginx lets through
control_socket_disable = True

# Only nginx reaches this port, and it overwrites what clients say about themselves.
forwarded_allow_ips = "*"

# The application writes a line for each request itself; what gunicorn says has the same form.
accesslog = None
logconfig_dict = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"lines": {"()": "registry.logs.library_handler"}},
    "root": {"level": "WARNING", "handlers": ["lines"]},
    "loggers": {"gunicorn.error": {"level": "INFO", "handlers": ["lines"], "propagate": False}},
    "formatters": {},
}


__systemd_listens = "LISTEN_FDS" in __os.environ


def post_worker_init(worker):
    """At SIGTERM whoever waits for statistics is answered at once, so that the graceful timeout is enough.

    Of the threads `REGISTRY_WEB_THREADS` serve requests, and the others streams of events.

    The port closes at once too: connections that gunicorn would leave in its queue until the last request is done, and
    then reset, are refused while a proxy may still try another process, or taken if they were there before. Where
    systemd listens, its queue waits for the next process.
    """
    import signal
    import socket

    stopping = worker.wsgi.extensions["registry"].stopping
    graceful = signal.getsignal(signal.SIGTERM)

    def nobody_left():
        raise BlockingIOError(11, "the port is closed")

    def close_port():
        for listener in worker.sockets:
            taken = -1
            while taken < worker.nr_conns:
                taken = worker.nr_conns
                worker.accept(listener)
            listener.sock.shutdown(socket.SHUT_RD)
            listener.accept = nobody_left  # the loop may be about to

    def stop(number, frame):
        stopping.set()
        if not __systemd_listens:
            close_port()
        if callable(graceful):
            graceful(number, frame)

    signal.signal(signal.SIGTERM, stop)
    worker.wsgi = __admission.Admission(worker.wsgi, settings.web_threads)
