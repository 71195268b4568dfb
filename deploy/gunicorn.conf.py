"""How gunicorn runs the web process: one process with many threads, so that its /metrics are one scrape target.

More capacity is more containers (`--scale web=N`), not more processes in one of them.
"""

from registry.settings import Settings

settings = Settings.from_environment()

bind = f"{settings.host}:{settings.port}"
worker_class = "gthread"
workers = 1
threads = settings.web_threads

# A leak in a library ends with the process that has it; the jitter keeps replicas from restarting together.
max_requests = 100_000
max_requests_jitter = 20_000

graceful_timeout = 10
limit_request_line = 8190  # what nginx lets through
control_socket_disable = True

# Only nginx reaches this port, and it overwrites what clients say about themselves.
forwarded_allow_ips = "*"

# The application writes a line for each request itself; errors of gunicorn go to stderr.
accesslog = None


def post_worker_init(worker):
    """At SIGTERM whoever waits for statistics is answered at once, so that the graceful timeout is enough."""
    import signal  # every name of this file is a setting

    stopping = worker.wsgi.extensions["registry"].stopping
    graceful = signal.getsignal(signal.SIGTERM)

    def stop(number, frame):
        stopping.set()
        if callable(graceful):
            graceful(number, frame)

    signal.signal(signal.SIGTERM, stop)
