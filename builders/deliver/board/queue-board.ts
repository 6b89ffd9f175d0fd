import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Redis } from 'ioredis';
import { requireOperatorKey } from '../../../runtime/operator-key.ts';
import type { EndpointQueues } from '../../submit/queue/endpoint-queue.ts';
import { hideTransactions } from './hide-transactions.ts';

export type QueueBoardDeps = {
  readonly endpointIds: readonly string[];
  readonly queues: EndpointQueues;
  /** The connection of the queues: must fail at once while Redis is unreachable. */
  readonly redis: Redis;
  readonly operatorKey: string;
};

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
export function mountQueueBoard(app: Hono, { endpointIds, queues, redis, operatorKey }: QueueBoardDeps): void {
  let board: Hono | undefined;
  const guard: MiddlewareHandler = async (c, next) => {
    if (redis.status !== 'ready') return c.json({ error: 'Redis is unreachable' }, 503);
    await next();
    c.header('Content-Security-Policy', POLICY);
    c.header('Cache-Control', 'no-store');
  };
  for (const path of [PATH, `${PATH}/*`]) {
    app.use(path, requireOperatorKey(operatorKey), guard);
    app.all(path, async (c) => {
      // A queue whose first contact with Redis fails stays unusable: the board is made when someone looks.
      board ??= createBoard(endpointIds, queues);
      return board.fetch(c.req.raw);
    });
  }
}

function createBoard(endpointIds: readonly string[], queues: EndpointQueues): Hono {
  const adapters = endpointIds.map((id) => {
    const adapter = new BullMQAdapter(queues.get(id), { readOnlyMode: true });
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
