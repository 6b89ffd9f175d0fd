import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Queue } from 'bullmq';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Redis } from 'ioredis';
import type { ChainConfig } from '../../../config/chains-schema.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { requireOperatorKey } from '../../../runtime/operator-key.ts';
import { chainEndpoints } from '../../submit/endpoints.ts';
import { simulationQueueId } from '../../submit/simulation-queue.ts';
import { hideTransactions } from './hide-transactions.ts';

export type QueueBoardDeps = {
  readonly chains: readonly ChainConfig[];
  /** Where the builders' keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Must fail at once while Redis is unreachable. */
  readonly redis: Redis;
  readonly queuePrefix: string;
  readonly operatorKey: string;
  readonly logger: Logger;
};

export type QueueBoard = { close(): Promise<void> };

const PATH = '/queues';

/**
 * Everything comes from this process: the page names a font of another host, which is not asked for. The page's script
 * writes its styles inline.
 */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/**
 * Serves the BullMQ dashboard under `/queues` to those who have the operator's key. It is for looking only: a quote that
 * was sent again by hand would break the order that the queues keep.
 */
export function mountQueueBoard(app: Hono, deps: QueueBoardDeps): QueueBoard {
  const { chains, env, redis, queuePrefix } = deps;
  const endpointIds = chains.flatMap((chain) => chainEndpoints(chain, env).map(({ id }) => id));
  const simulated = chains.filter(({ pamm }) => pamm?.kind === 'ethereum').map(({ chainId }) => chainId);
  const names = [...endpointIds, ...simulated.map(simulationQueueId)];
  let queues: readonly Queue[] = [];
  let board: Hono | undefined;
  const openBoard = (): Hono => {
    // A queue whose first contact with Redis fails stays unusable: they are made when someone looks.
    queues = names.map((name) => openQueue(name, redis, queuePrefix, deps.logger));
    return boardOf(queues);
  };
  const guard: MiddlewareHandler = async (c, next) => {
    if (redis.status !== 'ready') return c.json({ error: 'Redis is away' }, 503);
    await next();
    c.header('Content-Security-Policy', POLICY);
    c.header('Cache-Control', 'no-store');
  };
  for (const path of [PATH, `${PATH}/*`]) {
    app.use(path, requireOperatorKey(deps.operatorKey), guard);
    app.all(path, async (c) => {
      board ??= openBoard();
      return board.fetch(c.req.raw);
    });
  }
  return {
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

function openQueue(name: string, connection: Redis, prefix: string, logger: Logger): Queue {
  const queue = new Queue(name, { connection, prefix, skipMetasUpdate: true });
  queue.on('error', (error) => logger.debug({ err: error, queue: name }, 'queue error'));
  return queue;
}

function boardOf(queues: readonly Queue[]): Hono {
  const adapters = queues.map((queue) => {
    const adapter = new BullMQAdapter(queue, { readOnlyMode: true });
    adapter.setFormatter('data', hideTransactions);
    return adapter;
  });
  const server = new HonoAdapter(serveStatic).setBasePath(PATH);
  createBullBoard({
    queues: adapters,
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Quote updates', hideRedisDetails: true } },
  });
  return new Hono().route(PATH, server.registerPlugin());
}
