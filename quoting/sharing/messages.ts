import { z } from 'zod';
import type { BlockHeader } from '../../chain/chain-rpc.ts';
import { HexAddress, HexBytes32 } from '../../config/scalars.ts';
import type { RequestedPool } from '../requested/requested-pools.ts';

/** Raised with each change of a message or of what is published, so that only processes of one form meet. */
export const FORMAT = 2;

const Token = z.string().regex(/^\d{1,20}$/);
const seq = z.int().nonnegative();
const number = z.string().regex(/^\d+$/).transform(BigInt);

/** That the leading process is there, how many messages of reads it sent, and its head, null while it knows none. */
const Beat = z.object({ token: Token, seq, head: HexBytes32.nullable() });

/** What the leading process read at a block so far. */
const Reads = z.object({
  token: Token,
  /** One more than that of the message before. */
  seq,
  block: z.object({ number, hash: HexBytes32, timestamp: number, parents: z.array(HexBytes32).min(1) }),
  /** Whether `values` has all that is known, and not what changed since the message before. */
  isWhole: z.boolean(),
  /** Whether nothing else is to be expected of this block. */
  isOver: z.boolean(),
  /** Whether values hold at this block, but for those named in `except`: of these the opposite is true. */
  isRead: z.boolean(),
  except: z.array(z.string()),
  failed: z.array(z.string()),
  values: z.array(z.tuple([z.string(), z.unknown()])),
});

export type BeatMessage = z.infer<typeof Beat>;
export type ReadsMessage = z.infer<typeof Reads>;

/** @throws SyntaxError or ZodError when it is neither */
export const parseFromLeader = (text: string): BeatMessage | ReadsMessage =>
  z.union([Reads, Beat]).parse(JSON.parse(text));

export const writeBeat = (beat: BeatMessage): string => JSON.stringify(beat);

/** @param values names with JSON */
export function writeReads(
  { block, ...rest }: Omit<ReadsMessage, 'values' | 'block'> & { readonly block: BlockHeader },
  values: readonly (readonly [string, string])[],
): string {
  const { hash, parents } = block;
  const at = { number: String(block.number), hash, timestamp: String(block.timestamp), parents };
  const head = JSON.stringify({ ...rest, block: at }).slice(0, -1);
  return `${head},"values":[${values.map(([name, json]) => `["${name}",${json}]`).join()}]}`;
}

/** Which pools a process has requests for, to the one that holds this token. */
const Report = z.object({
  id: z.string(),
  token: Token,
  /** Whether it needs all that is known, since it missed messages. */
  isBehind: z.boolean(),
  /** Absent: those of the report before. */
  pools: z.array(z.tuple([HexAddress, z.enum(['prices', 'depths']), z.boolean()])).optional(),
});

/** @throws SyntaxError or ZodError when it is none */
export function parseReport(text: string) {
  const { pools, ...report } = Report.parse(JSON.parse(text));
  return { ...report, pools: pools?.map(([address, kind, byKey]): RequestedPool => ({ address, kind, byKey })) };
}

export function writeReport(
  report: Omit<z.input<typeof Report>, 'pools'>,
  pools: readonly RequestedPool[] | undefined,
): string {
  return JSON.stringify({ ...report, pools: pools?.map(({ address, kind, byKey }) => [address, kind, byKey]) });
}
