# One image for API, worker and browser service; docker-compose.yml selects the role.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No dependency needs install scripts.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node start/bootstrap.mjs package && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-trixie-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates chromium ffmpeg fonts-liberation \
    fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core xdotool xvfb \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist/package dist/package

RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production \
  HOLDFAST_DATA_DIR=/data \
  HOLDFAST_HOST=0.0.0.0 \
  HOLDFAST_SANDBOX=off \
  CHROMIUM_PATH=/usr/bin/chromium
VOLUME /data
EXPOSE 8080 8082

# Run node directly, not through npm, so that the role receives the container's signals.
ENTRYPOINT ["node", "dist/package/start/cli.js"]
CMD ["api"]
