# The bot as an image: docker build --tag vllm-digest .
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY analysis analysis
COPY bot bot
COPY loopback loopback
# Nothing is installed later: of pip and setuptools the environment has no copies.
RUN python -m venv --without-pip /opt/vllm-digest
RUN pip --python /opt/vllm-digest install --no-cache-dir --disable-pip-version-check --constraint constraints.txt .

FROM python:3.11-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin vllm-digest
RUN install --directory --owner=10001 --group=10001 /srv/vllm-digest/data
COPY --from=build /opt/vllm-digest /opt/vllm-digest
# Libraries look for a home folder, and matplotlib writes there: one for whichever user the image is run as.
ENV PATH=/opt/vllm-digest/bin:$PATH HOME=/tmp
WORKDIR /srv/vllm-digest
VOLUME /srv/vllm-digest/data
USER 10001:10001
# The metrics port, which run, serve and worker have alike; without the proxies that urllib would take from the environment.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:9464/healthz', timeout=4)"]
ENTRYPOINT ["vllm-digest"]
CMD ["run"]
