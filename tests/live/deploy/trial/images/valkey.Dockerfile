# Stands in for valkey/valkey:8.
FROM try-compose-base
RUN groupadd -r -g 999 valkey && useradd -r -u 999 -g valkey valkey && apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valkey-server \
    && install -d -o valkey -g valkey /data
WORKDIR /data
CMD ["valkey-server"]
