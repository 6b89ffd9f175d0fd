# syntax=docker/dockerfile:1
FROM node:24.21.0-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Ponder is patched as it is installed.
COPY patches patches
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
RUN npm run build -- --production
# What the bundles leave to be installed: Ponder, with what it needs.
RUN npm prune --omit=dev

# Without a shell and packages: its entrypoint is Node, and its user 65532.
FROM gcr.io/distroless/nodejs24-debian13:nonroot
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json package.json
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/migrations migrations
COPY --from=build /app/config/mainnet.json /app/config/*-parts.json config/
USER nonroot
# Each service of docker-compose.yml names its process; a bare run serves the API.
CMD ["--no-memory-reducer", "--heap-growing-percent=100", "dist/api.mjs"]
