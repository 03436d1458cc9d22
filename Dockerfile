# The bot as an image: docker build --tag vllm-digest . (docs/operating.md says how to fix the base by its digest)
ARG BASE_IMAGE=python:3.11-slim
FROM ${BASE_IMAGE} AS build
WORKDIR /src
# Nothing is installed later: of pip the environment has no copy.
RUN python -m venv --without-pip /opt/vllm-digest
# Before the sources, so that a change of them downloads nothing.
COPY requirements.txt ./
RUN pip --python /opt/vllm-digest install --no-cache-dir --disable-pip-version-check --require-hashes --requirement requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY analysis analysis
COPY bot bot
COPY loopback loopback
RUN pip --python /opt/vllm-digest install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM ${BASE_IMAGE}
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
