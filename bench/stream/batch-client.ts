import { z } from 'zod';
import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../../test/abuse/order-process.ts';
import { connectSse } from '../../test/stream/stream-connection.ts';

/** Each is answered once. */
export type BatchOrder =
  /** Follows the stream of these pools from now on. */
  | ({ readonly kind: 'follow' } & BatchTarget)
  /** Times a batch of these pools: milliseconds to the last byte; of a block, as soon as the stream has told it. */
  | ({ readonly kind: 'time'; readonly afterBlock?: number } & BatchTarget);

interface BatchTarget {
  readonly url: string;
  readonly chainId: number;
  readonly pools: readonly string[];
}

const READ_LIMIT_MS = 5_000;
const HeadMessage = z.object({ blockNumber: z.number() });

/** A process of its own: whoever mines and counts calls beside would be part of what is timed. */
runMain(async () => {
  let newest = 0;
  let notice: () => void = () => undefined;
  const untilSent = (number: number) =>
    new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`block ${number} was not told`)), READ_LIMIT_MS);
      notice = () => {
        if (newest < number) return;
        clearTimeout(limit);
        resolve();
      };
      notice();
    });
  answerOrders<BatchOrder>(async (order) => {
    if (order.kind === 'time') {
      if (order.afterBlock !== undefined) await untilSent(order.afterBlock);
      return timeBatch(order);
    }
    connectSse(
      order.url,
      { ...order, depth: false },
      {
        message: (_event, _id, data) => {
          newest = HeadMessage.parse(JSON.parse(data)).blockNumber;
          notice();
        },
        // A block that is not told is the error.
        ended: () => undefined,
      },
    );
    return null;
  });
});

async function timeBatch({ url, chainId, pools }: BatchTarget): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ pools, depth: false });
  const response = await fetch(`${url}/public/v1/evm/${chainId}/bid_ask/batch`, { method: 'POST', body });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  if (response.status !== 200 || text.includes('"error"')) {
    throw new Error(`batch: ${response.status} ${text.slice(0, 200)}`);
  }
  return ms;
}
