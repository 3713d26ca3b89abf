# The server and the worker, of one image. In a container it listens to everybody, so it needs a key first:
#   docker run --rm -v memory:/data recollect recollect keys create --service
#   docker run -v memory:/data -p 127.0.0.1:7070:7070 recollect
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/recollect \
 && /opt/recollect/bin/pip install --no-cache-dir --constraint constraints.txt '.[server,remote,llm,mcp,encryption,postgres,redis,neo4j]'

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home recollect \
 && install -d -o recollect /data
COPY --from=build /opt/recollect /opt/recollect
ENV PATH=/opt/recollect/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RECOLLECT_DB=/data/recollect.db \
    RECOLLECT_MODELS=/data/models \
    RECOLLECT_HOST=0.0.0.0 \
    RECOLLECT_LOG_FORMAT=json
USER 10001
VOLUME /data
EXPOSE 7070
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7070/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
CMD ["recollect", "serve"]
