import { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { serveMeasured } from '../serve-measured.ts';

const Block = z.object({ blockNumber: z.number(), plain: z.number(), withDepth: z.number() });

/**
 * The least that telling a block to all connections of a chain can cost. Each gets one ready text, of the length that
 * the bench gives for connections with and without depth.
 */
serveMeasured(async () => {
  const streams = new Map<string, Set<SSEStreamingApi>>();
  const openOf = (chain: string, withDepth: boolean): Set<SSEStreamingApi> => {
    const key = `${chain} ${withDepth}`;
    const open = streams.get(key) ?? new Set();
    streams.set(key, open);
    return open;
  };
  const app = new Hono()
    .get('/public/v1/evm/:chain/stream', (c) =>
      streamSSE(c, async (stream) => {
        const open = openOf(c.req.param('chain'), c.req.query('depth') === 'true');
        await stream.writeSSE({ event: 'snapshot', data: JSON.stringify({ seq: 0, blockNumber: 0 }) });
        open.add(stream);
        await new Promise<void>((resolve) => stream.onAbort(resolve));
        open.delete(stream);
      }),
    )
    .post('/public/v1/evm/:chain/block', async (c) => {
      const { blockNumber, plain, withDepth } = Block.parse(await c.req.json());
      for (const [depth, bytes] of [[false, plain] as const, [true, withDepth] as const]) {
        const data = textOf(blockNumber, bytes);
        for (const stream of openOf(c.req.param('chain'), depth)) void stream.writeSSE({ event: 'update', data });
      }
      return c.body(null, 204);
    });
  return [app];
});

function textOf(blockNumber: number, bytes: number): string {
  const message = { seq: blockNumber, prevSeq: blockNumber - 1, blockNumber, filler: '' };
  return JSON.stringify({ ...message, filler: 'x'.repeat(Math.max(0, bytes - JSON.stringify(message).length)) });
}
