import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import { Quote } from '../quotes/quote-schema.ts';
import type { StreamEventName } from './types.ts';

/** What every message of a stream has. */
const envelope = {
  chainId: z.int().describe('The chain.'),
  seq: z.int().describe('Counts the messages of this connection, from 1.'),
  prevSeq: z
    .int()
    .nullable()
    .describe('`seq` of the previous message, null in the first. If you did not receive that one, a message was lost.'),
  blockNumber: z.int().describe('Block of the message.'),
  blockHash: z.string().describe('Its hash.'),
  blockTimestamp: z.int().describe('Its time, Unix seconds.'),
  serverTs: z.int().describe('When the message was written, Unix seconds.'),
};

const quotes = z.array(Quote).describe('Each one complete, as `getBidAsk` returns it.');
const last = z
  .boolean()
  .describe('True: you now have all your pools as of this block. False: more messages of this block follow.');

const PoolFailure = z.strictObject({
  poolAddress: Address.describe('The pool.'),
  status: z.int().describe('HTTP status that the endpoint of one pool would return.'),
  error: z.string().describe('What is wrong, human-readable.'),
});

const Removed = z.strictObject({
  poolAddress: Address.describe('The pool.'),
  reason: z.enum(['delisted', 'not_served']).describe('`delisted` by the operator, or not in the index any more.'),
});

/** @param fields besides those of every message */
const message = <Fields extends z.ZodRawShape>(description: string, fields: Fields) =>
  z.strictObject({ ...envelope, ...fields }).describe(description);

/** The data of each message, by name. SSE sends it as the data of an event, WebSocket after `event` and `id`. */
export const STREAM_MESSAGES = {
  snapshot: message('Every pool of a subscription, in parts of about 60 KiB.', {
    quotes,
    errors: z.array(PoolFailure).describe('Pools without a quote.'),
    last,
  }),
  update: message('Pools whose quote changed in anything but `serverTs`.', { quotes, last }),
  stale: message('Pools that could not be read at this block: their last quotes must not be used.', {
    pools: z.array(PoolFailure).describe('They are sent again when they can be read.'),
  }),
  removed: message('Pools that are no longer served. Pools that are not mentioned stay.', {
    pools: z.array(Removed).describe('They are no longer subscribed to.'),
  }),
  reorg: message('Blocks were replaced: quotes sent at them are void until they are sent again, which follows.', {
    fromBlock: z.int().describe('The lowest block that was replaced.'),
  }),
  heartbeat: message('Nothing changed: the quotes sent last hold at this block. At least every 15 seconds.', {}),
  gap: message(
    'The pools are others than before, or more than 64 blocks were replaced: discard all quotes, a snapshot follows.',
    {},
  ),
  bye: message('The last message: the service ends the connection.', {
    reason: z.enum(['shutdown', 'limits', 'key_revoked']).describe('`key_revoked`: do not reconnect with that key.'),
    retryMs: z.int().describe('Wait this long before connecting again, milliseconds.'),
  }),
} satisfies Record<StreamEventName, z.ZodObject>;

/** A message as a WebSocket carries it. */
export const webSocketMessage = (event: StreamEventName) =>
  STREAM_MESSAGES[event]
    .extend({
      event: z.literal(event),
      id: z
        .string()
        .optional()
        .describe('Resume after this message with `after`, if it is the last one that you received.'),
    })
    .describe(STREAM_MESSAGES[event].description ?? '');
