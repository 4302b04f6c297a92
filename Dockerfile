# syntax=docker/dockerfile:1
FROM node:22-slim AS pages
WORKDIR /pages
COPY app/web/js ./
RUN npm ci --ignore-scripts && npm run build

FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/venv
COPY requirements.lock pyproject.toml README.md ./
COPY app app
COPY --from=pages /pages/dist app/web/pages/bundle
RUN /opt/venv/bin/pip install --no-cache-dir -c requirements.lock '.[postgres,redis]'

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home briscola
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    BRISCOLA_DATABASE_URL=sqlite:////data/briscola-scores.db
# All that is written goes to /data, so the root file system may be read-only.
USER briscola
WORKDIR /data
VOLUME /data
EXPOSE 8000
# Through no proxy, whatever the environment names.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=2); c.request('GET', '/healthz'); assert c.getresponse().status == 200"]
ENTRYPOINT ["briscola-scores"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
