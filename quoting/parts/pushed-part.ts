import { z } from 'zod';
import type { PushedPart } from './part-pushes.ts';

const Hex = z.string().regex(/^0x[0-9a-fA-F]{1,16}$/);
const Build = z.string().optional().catch(undefined);
const Transactions = z.array(z.unknown()).optional().catch(undefined);
/** A block as nodes give it, or what the sequencer itself sends. */
const BlockForm = z.object({ number: Hex.transform(BigInt), parentHash: Build, transactions: Transactions });
const PayloadForm = z.object({
  payload_id: Build,
  index: z.int().nonnegative(),
  diff: z.object({ transactions: Transactions }).optional().catch(undefined),
  metadata: z.object({ block_number: z.int().nonnegative() }),
});

/** What a message says of a part. */
export interface PartMessage {
  readonly blockNumber: bigint;
  readonly index: number | null;
  /** The same for parts of one block that is being built. */
  readonly build: string | undefined;
  /** In order: those of the part where it has an index, otherwise those of the block so far. */
  readonly transactions: readonly unknown[] | undefined;
}

/** What a message says of a part, in either form; undefined for any other message. */
export function readPartMessage(result: unknown): PartMessage | undefined {
  const payload = PayloadForm.safeParse(result).data;
  if (payload) {
    const { payload_id: build, index, diff, metadata } = payload;
    return { blockNumber: BigInt(metadata.block_number), index, build, transactions: diff?.transactions };
  }
  const block = BlockForm.safeParse(result).data;
  if (!block) return undefined;
  return { blockNumber: block.number, index: null, build: block.parentHash, transactions: block.transactions };
}

/** The part of a message. @param before the message before it on the same connection */
export function pushedPart(before: PartMessage | undefined, message: PartMessage): PushedPart {
  const { blockNumber, index } = message;
  return { blockNumber, index, isUnchanged: before !== undefined && isUnchanged(before, message) };
}

function isUnchanged(before: PartMessage, { blockNumber, index, build, transactions }: PartMessage): boolean {
  if (before.blockNumber !== blockNumber || build === undefined || before.build !== build || !transactions)
    return false;
  if (index !== null) return transactions.length === 0 && before.index === index - 1;
  return before.index === null && JSON.stringify(before.transactions) === JSON.stringify(transactions);
}
