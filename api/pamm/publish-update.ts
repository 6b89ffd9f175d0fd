import type { Redis } from 'ioredis';
import type { QuoteUpdate } from '../../builders/submit/quote-update.ts';
import type { PammConfig } from '../../config/pamm-schema.ts';
import { encodeOwnUpdate, ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';

/** Where an update came from. */
export interface UpdateOrigin {
  readonly kind: PammConfig['kind'];
  /** Whose key it came with. */
  readonly holder: string;
  /** Unix milliseconds. */
  readonly arrivedAtMs: number;
}

/**
 * Passes an update of a key that publishes them to the processes that make live quotes.
 * Returns at once and never throws.
 */
export type PublishUpdate = (update: QuoteUpdate, origin: UpdateOrigin) => void;

/** Makes what publishes updates on Redis, which keeps none. */
export function createPublisher(redis: Redis, prefix: string, logger: Logger): PublishUpdate {
  const outage = new OutageLog(logger, {
    begin: 'quote updates are not published to the readers of live prices',
    end: 'quote updates are published again',
  });
  return (update, { kind, holder, arrivedAtMs }) => {
    if (redis.status !== 'ready') return;
    const { chainId, blockNumber, maxTimestamp } = update;
    const text = encodeOwnUpdate({
      sender: holder,
      uuid: update.replacementUuid,
      seq: update.replacementSeqNumber,
      tx: update.tx,
      // A builder of Ethereum uses an update in its block alone; on BSC it is the last one.
      fromBlock: kind === 'ethereum' ? blockNumber : 0n,
      untilBlock: blockNumber,
      // Unused on Ethereum.
      ...(kind === 'bsc' && maxTimestamp !== undefined && { untilSecs: maxTimestamp }),
      sentAtMs: arrivedAtMs,
    });
    redis.publish(ownUpdatesChannel(prefix, chainId), text).then(
      () => outage.worked(),
      // The error holds its command, and so the transaction.
      () => outage.failed(undefined),
    );
  };
}
