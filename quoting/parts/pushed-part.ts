import { type Hex, parseTransaction } from 'viem';
import { z } from 'zod';
import type { PushedPart } from './part-pushes.ts';

/** A number as JSON has it, or in hex digits. */
const Count = z.union([
  z.int().nonnegative().transform(BigInt),
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{1,16}$/)
    .transform(BigInt),
]);
const optional = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);
const Text = optional(z.string());
const Transactions = optional(z.array(z.unknown()));
/** A block as nodes give it, or what the sequencer itself sends: header fields only with the first part of a block. */
const BlockForm = z.object({ number: Count, parentHash: Text, transactions: Transactions });
const PayloadForm = z.object({
  payload_id: Text,
  index: Count.transform(Number).pipe(z.int()),
  base: optional(z.object({ block_number: Count })),
  diff: optional(z.object({ transactions: Transactions })),
  metadata: optional(z.object({ block_number: optional(Count), prev_flashblock_id: Text })),
});
/** A transaction as nodes give it in a block. */
const BlockTransaction = z.object({ hash: z.string(), gas: optional(Count), input: Text });

/** What a message says of a part. */
export interface PartMessage {
  readonly blockNumber: bigint;
  readonly index: number | null;
  /** The same for parts of one block that is being built. */
  readonly build: string | undefined;
  /** Names the part before, where the message does. */
  readonly previous: string | undefined;
  /** In order: those of the part where it has an index, otherwise those of the block so far. */
  readonly transactions: readonly unknown[] | undefined;
}

/**
 * What a message says of a part, in either form; undefined for any other message.
 *
 * @param before the message before it on the same connection
 */
export const readPartMessage = (result: unknown, before?: PartMessage): PartMessage | undefined =>
  readPayload(result, before) ?? readBlock(result);

function readPayload(result: unknown, before: PartMessage | undefined): PartMessage | undefined {
  const payload = PayloadForm.safeParse(result).data;
  if (!payload) return undefined;
  const { payload_id: build, index, base, diff, metadata } = payload;
  const [number, first] = [metadata?.block_number, base?.block_number];
  if (number !== undefined && first !== undefined && number !== first) return undefined;
  const known = build !== undefined && before?.build === build ? before.blockNumber : undefined;
  const blockNumber = number ?? first ?? known;
  if (blockNumber === undefined) return undefined;
  const previous = metadata?.prev_flashblock_id;
  return { blockNumber, index, build, previous, transactions: diff?.transactions };
}

function readBlock(result: unknown): PartMessage | undefined {
  const block = BlockForm.safeParse(result).data;
  if (!block) return undefined;
  const { number, parentHash, transactions } = block;
  return { blockNumber: number, index: null, build: parentHash, previous: undefined, transactions };
}

/** The part of a message. @param before the message before it on the same connection */
export function pushedPart(before: PartMessage | undefined, message: PartMessage): PushedPart {
  const { blockNumber, index } = message;
  return { blockNumber, index, isUnchanged: before !== undefined && isUnchanged(before, message) };
}

function isUnchanged(before: PartMessage, message: PartMessage): boolean {
  const { blockNumber, index, build, previous, transactions } = message;
  if (before.blockNumber !== blockNumber || build === undefined || before.build !== build || !transactions)
    return false;
  if (index === null)
    return before.index === null && before.transactions !== undefined && isContinued(before.transactions, transactions);
  if (before.index !== index - 1 || !transactions.every(isRawTransfer)) return false;
  return previous === undefined || previous === `${blockNumber}-${before.index}`;
}

/** Whether a block has the transactions that it had, and since then only those that run no code. */
function isContinued(before: readonly unknown[], transactions: readonly unknown[]): boolean {
  const added = transactions.slice(before.length);
  return before.every((each, index) => isSame(each, transactions[index])) && added.every(isTransfer);
}

function isSame(one: unknown, other: unknown): boolean {
  const [id, otherId] = [one, other].map((each) => BlockTransaction.safeParse(each).data?.hash ?? each);
  return typeof id === 'string' && id === otherId;
}

/** What each transaction costs: one that may cost no more runs no code. It moves coins, which no quote depends on. */
const TRANSFER_GAS = 21_000n;

function isTransfer(transaction: unknown): boolean {
  const { gas, input } = BlockTransaction.safeParse(transaction).data ?? {};
  return gas === TRANSFER_GAS && input === '0x';
}

/** @param transaction signed, as a sequencer sends it: those of the chain itself are of other types */
function isRawTransfer(transaction: unknown): boolean {
  if (typeof transaction !== 'string') return false;
  try {
    const { gas, data } = parseTransaction(transaction as Hex);
    return gas === TRANSFER_GAS && data === undefined;
  } catch {
    return false;
  }
}
