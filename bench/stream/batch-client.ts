import { z } from 'zod';
import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../../test/abuse/order-process.ts';
import { connectSse } from '../../test/stream/stream-connection.ts';
import { timeBatch } from '../time-batch.ts';

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
      return timeBatch(`${order.url}/public/v1/evm/${order.chainId}`, order.pools, false);
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
