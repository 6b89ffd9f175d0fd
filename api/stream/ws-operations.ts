import { z } from '@hono/zod-openapi';
import { stringList } from '../body.ts';

const Id = z
  .union([z.string().max(64), z.int().nonnegative()])
  .describe('Chosen by the client; the response repeats it.');

const Pools = stringList(z.array(z.string()).min(1));

/** The schemas check the shape only: the handler checks each address, and names what is wrong. */
export const WsAuth = z
  .strictObject({
    op: z.literal('auth'),
    id: Id,
    key: z.string().describe('Trading API key.'),
  })
  .describe('Authenticates: the first operation, within 5 seconds, if the headers have no key.');

export const WsSubscribe = z
  .strictObject({
    op: z.literal('subscribe'),
    id: Id,
    pools: Pools.optional().describe(
      'Pool addresses in any case. Without them all listed pools of the chain, new ones too; that takes a key.',
    ),
    depth: z.boolean().default(true).describe('False leaves `depth` out of the quotes of these pools.'),
    after: z
      .string()
      .max(128)
      .optional()
      .describe(
        '`id` of the last message of an earlier connection, to resume after it. In the first subscription only.',
      ),
  })
  .describe('Adds pools: a `snapshot` of them follows, then what changes.');

export const WsUnsubscribe = z
  .strictObject({ op: z.literal('unsubscribe'), id: Id, pools: Pools.describe('Pool addresses in any case.') })
  .describe('Removes pools; those that are not subscribed to are ignored.');

export const WsPing = z
  .strictObject({ op: z.literal('ping'), id: Id })
  .describe('Asks for an `ack`, for clients that cannot send pings of the WebSocket protocol.');

/** What a client may send over a WebSocket, each as one text message. */
export const WsOperation = z.discriminatedUnion('op', [WsAuth, WsSubscribe, WsUnsubscribe, WsPing]);

/** The id by which a response names a rejected message. */
export const OperationName = z.looseObject({ id: Id });

export type WsOperation = z.output<typeof WsOperation>;
export type WsSubscribe = z.output<typeof WsSubscribe>;

const AnsweredId = Id.describe('`id` of the operation.');

export const WsAck = z
  .strictObject({ event: z.literal('ack'), id: AnsweredId })
  .describe('The operation was accepted. Its effects follow.');

export const WsError = z
  .strictObject({
    event: z.literal('error'),
    id: AnsweredId.nullable().describe(
      '`id` of the operation; null when it could not be read, and when it was not read because of too many operations or bytes a second.',
    ),
    status: z.int().describe('HTTP status of the same error in a request.'),
    error: z.string().describe('What is wrong, human-readable.'),
    retryMs: z.int().optional().describe('Of status 429 and 503: wait this long before trying again, milliseconds.'),
  })
  .describe('The operation was rejected; nothing changed. A rejected `auth` also ends the connection.');
