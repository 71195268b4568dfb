# syntax=docker/dockerfile:1

FROM python:3.13-slim-trixie AS wheels
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml deploy/constraints.txt ./
# The dependencies have a layer of their own: it is built again when they change, not with every line of code.
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > requirements.txt \
    && pip wheel --constraint constraints.txt --wheel-dir wheels --requirement requirements.txt
COPY README.md LICENSE ./
COPY registry registry
COPY workers workers
COPY migrations migrations
COPY client client
RUN pip wheel --no-deps --wheel-dir wheels .


FROM python:3.13-slim-trixie
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 REGISTRY_HOST=0.0.0.0 REGISTRY_PORT=8000
RUN --mount=type=bind,from=wheels,source=/build/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --disable-pip-version-check /wheels/*.whl
# Celery wants a user and a group that have names; nothing on disk belongs to them.
RUN groupadd --gid 10001 registry \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin registry
WORKDIR /srv/registry
COPY deploy/gunicorn.conf.py deploy/healthy.py deploy/
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 8000
# For the web process; docker-compose.yml gives the other processes checks of their own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["python", "deploy/healthy.py", "web"]
CMD ["gunicorn", "--config", "deploy/gunicorn.conf.py", "registry.wsgi:application"]
