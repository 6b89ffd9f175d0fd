import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createApp } from '../../api/app.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { Connections } from '../../api/sockets/connections.ts';
import { WEB_SOCKET_PATHS } from '../../api/sockets/open-socket.ts';
import type { ChainStream } from '../../api/stream/chain-stream.ts';
import { streamResource } from '../../api/stream/stream.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { StreamConfig } from '../../config/stream-schema.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';

/** All of them change in each block: some 200 kB, so that what the kernel takes for a client is full after a while. */
const POOLS = 500;
const RICH = { callsPerMinute: 100_000 };
const CHAIN = 7;
const MAX_BLOCKS = 400;
const WAIT = { interval: 5 };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The streams of a simulated chain over a real server. Request limits are off. */
async function serve(stream: ChainStream) {
  const logger = createLogger('test', 'silent');
  const connections = new Connections(StreamConfig.parse({}));
  const streams = { chains: new Map([[CHAIN, { committed: stream, live: stream }]]) };
  const deps = { streams, sockets: { connections, countTermination: () => undefined } };
  const redis = new Redis({ lazyConnect: true });
  const app = createApp(bindRoutes(streamResource, { ...deps, trustedProxies: 0 }), {
    verifyKey: async () => null,
    rateLimit: { limits: LimitsConfig.parse({ enabled: false }), redis, prefix: 'test', trustedProxies: 0 },
    webSockets: { ...deps, takers: new Map() },
    metrics: createMetrics('test'),
    logger,
  });
  const server = await startServer(app, '127.0.0.1', 0, { webSockets: WEB_SOCKET_PATHS });
  ends.push(async () => {
    connections.end('shutdown');
    await server.stop(1_000);
  });
  return { port: server.port, connections };
}

/** Asks for all pools and reads nothing of the answer. */
function neverReadingSse(port: number, pools: string): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  socket.write(`GET /public/v1/evm/${CHAIN}/stream?depth=false&pools=${pools} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

async function neverReadingWebSocket(port: number, pools: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/public/v1/evm/${CHAIN}/ws`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ op: 'subscribe', id: 1, pools: pools.split(','), depth: false }));
  socket.pause();
  return socket;
}

test.each(['sse', 'websocket'] as const)(
  'a client that never reads its %s is terminated ten seconds after its sockets are full',
  async (transport) => {
    const chain = new SimulatedChain(POOLS);
    const { heads, stream } = chain.startProcess(RICH);
    const { port, connections } = await serve(stream);
    const good = new SimulatedClient({ pools: chain.pools.slice(0, 1), depth: false, hasKey: false });
    await good.connect(stream);
    const pools = chain.pools.map(({ address }) => address).join(',');
    const socket = await { sse: neverReadingSse, websocket: neverReadingWebSocket }[transport](port, pools);
    const closed = once(socket, 'close');
    await vi.waitUntil(() => stream.subscriberCount === 2, WAIT);
    const all = chain.pools.map((_, index) => index);
    let blocks = 0;
    for (; stream.subscriberCount === 2 && blocks < MAX_BLOCKS; blocks++) {
      chain.mine(all);
      heads.push(chain.head);
      await vi.waitUntil(() => good.hash === chain.head.block.hash, WAIT);
      stream.tick();
    }
    expect(stream.subscriberCount).toBe(1);
    // A block a second: ten of them, and those before that filled the sockets.
    expect(blocks).toBeGreaterThan(10);
    await vi.waitUntil(() => connections.size === 0, WAIT);
    socket.resume();
    await closed;
    expect(good.isOpen).toBe(true);
  },
);
