# Stands in for nginx:1.28.
FROM try-compose-base
RUN groupadd -r -g 101 nginx && useradd -r -u 101 -g nginx nginx && apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light curl
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
