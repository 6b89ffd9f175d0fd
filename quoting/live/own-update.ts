import { z } from 'zod';
import { IntegerText } from '../../config/scalars.ts';
import { encodeBigints } from '../../runtime/json.ts';
import { FrameError } from './frame.ts';

const OwnUpdate = z.strictObject({
  /** Names whose key it came with: `holder` of its identity. */
  sender: z.string().min(1).max(64),
  /** 16 bytes. */
  uuid: z.string().regex(/^0x[0-9a-f]{32}$/),
  /** A higher one replaces all lower ones of the same sender and uuid. */
  seq: IntegerText,
  /** The signed transaction; `0x` cancels. */
  tx: z
    .string()
    .regex(/^0x([0-9a-f]{2})*$/)
    .transform((tx) => tx as `0x${string}`),
  /** The first and the last block that it is good for. */
  fromBlock: IntegerText,
  untilBlock: IntegerText,
  /** Unix seconds: it is not good for later blocks. */
  untilSecs: IntegerText.optional(),
  /** When it came, Unix milliseconds. */
  sentAtMs: z.int().nonnegative(),
});

/** A quote update that this service took from a maker who lets it be published. */
export type OwnUpdate = z.output<typeof OwnUpdate>;

/** Characters of a message: a transaction of 32 KiB. Larger ones are not used. */
const MAX_CHARACTERS = 65_536;

/**
 * The channel of Redis that passes the updates of a chain to the process that reads its sources.
 *
 * @param prefix `QUEUE_PREFIX`
 */
export const ownUpdatesChannel = (prefix: string, chainId: number): string => `${prefix}:own-updates-1-${chainId}`;

/** Makes the message of an update. */
export const encodeOwnUpdate = (update: OwnUpdate): string => encodeBigints(update);

/** @throws FrameError `oversized` or `malformed` */
export function parseOwnUpdate(text: string): OwnUpdate {
  if (text.length > MAX_CHARACTERS) throw new FrameError('oversized');
  try {
    return OwnUpdate.parse(JSON.parse(text));
  } catch {
    throw new FrameError('malformed'); // The cause would hold the transaction.
  }
}
