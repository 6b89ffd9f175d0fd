import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import { uint64 } from '../declaration/uint64.ts';
import { Bap710Frame, BuilderFrame } from './declaration.ts';
import { JsonRpc, RpcCall, RpcResponse } from './rpc-declaration.ts';

const bye = z.strictObject({
  reason: z
    .enum(['shutdown', 'limits', 'key_revoked', 'stale'])
    .describe(
      '`stale`: nodes failed for 2 seconds, or pools were not read for 10 or more. `key_revoked`: do not reconnect with that key.',
    ),
  retryMs: z.int().describe('Wait this long before connecting again, milliseconds.'),
});

const BYE = 'The last message: the service ends the connection.';

const notification = <M extends z.ZodType, P extends z.ZodType>(method: M, params: P) =>
  z.strictObject({ jsonrpc: JsonRpc, method, params });

/** What the WebSocket of price levels sends, by name. */
export const LEVELS_MESSAGES = {
  builderFrame: BuilderFrame.describe('A complete frame, by default.'),
  bap710Frame: Bap710Frame.describe('A complete frame, with `format=bap710`.'),
  levelsBye: bye.extend({ event: z.literal('bye') }).describe(BYE),
};

/** What the WebSockets send that a builder's clients read: frames alone. */
export const QUOTE_STREAM_MESSAGES = {
  builderOverrides: z
    .object({
      slot: z.int().optional().describe('Its slot, where the chain has slots.'),
      blockNumber: z.int().describe('The block that is being built.'),
      timestamp: uint64('When the frame was made, Unix nanoseconds.'),
    })
    .catchall(
      z
        .strictObject({
          stateOverride: z
            .record(
              Address,
              z
                .strictObject({
                  stateDiff: z.record(z.string(), z.string()).describe('Words by slot, hex of 32 bytes.'),
                })
                .describe('What the account holds in that block.'),
            )
            .describe('By account.'),
        })
        .describe('A venue, by address.'),
    )
    .describe('State overrides by venue, in the form of builders: all that are live and may be passed on.'),
};
export const BUILDER_LEVELS_MESSAGES = { builderFrame: LEVELS_MESSAGES.builderFrame };

/** What the WebSocket of JSON-RPC sends, by name. */
export const TAKER_MESSAGES = {
  rpcResponse: RpcResponse.describe('The response to one call.'),
  rpcFrame: notification(
    z.literal('pamm_subscription').describe('A frame.'),
    z
      .strictObject({
        subscription: z.string().describe('Result of its `pamm_subscribe`.'),
        result: z.union([Bap710Frame, z.looseObject({})]).describe('What the call of the same data returns, complete.'),
      })
      .describe('The subscription and its frame.'),
  ).describe('A frame of a subscription: `subscribePriceLevelsV1`, or `subscribeNewQuotesV1` with state overrides.'),
  rpcBye: notification(z.literal('pamm_bye').describe('The end.'), bye.describe('Why.')).describe(BYE),
};

/** What its clients send. */
export const TAKER_CALLS = { rpcCall: RpcCall.describe('A call; several go in an array.') };
