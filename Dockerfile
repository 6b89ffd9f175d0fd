# syntax=docker/dockerfile:1
FROM node:20-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Ponder is patched as it is installed.
COPY patches patches
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev

# The web page: what builds it stays behind.
FROM dependencies AS page
COPY package.json tsconfig.json ./
COPY client client
COPY protocol protocol
COPY runtime runtime
COPY web web
RUN node --import tsx web/build.ts

FROM node:20-bookworm-slim
ENV NODE_ENV=production PONDER_TELEMETRY_DISABLED=1
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json tsconfig.json ponder.config.ts ./
COPY api api
COPY builders builders
COPY capture capture
COPY chain chain
COPY cli cli
COPY config config
COPY db db
COPY --chown=node:node indexer indexer
COPY migrations migrations
COPY protocol protocol
COPY runtime runtime
COPY --from=page /app/web/dist web/dist
USER node
# Each service of docker-compose.yml names its process; a bare run serves the API.
CMD ["node", "--no-memory-reducer", "--heap-growing-percent=100", "--import", "tsx", "api/main.ts"]
