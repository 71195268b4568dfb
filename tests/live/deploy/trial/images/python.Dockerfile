# Stands in for python:3.13-slim-trixie.
FROM try-compose-base
RUN python3 -m venv /usr/local
CMD ["python3"]
