import { z } from 'zod';
import type { BlockHeader } from '../../chain/chain-rpc.ts';
import { stateOf } from '../../chain/pending-state.ts';
import { HexAddress, HexBytes32, IntegerText } from '../../config/scalars.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import type { RequestedPool } from '../requested/requested-pools.ts';

/** To be raised when messages or what is published change: only processes of the same format share reads. */
export const FORMAT = 6;

const digest = z.string();

/** What a process read at a block since its last message. */
const Reads = z.object({
  id: z.string(),
  /** Names what was read: see `stateOf`. */
  state: z.string(),
  block: z.object({
    number: IntegerText,
    hash: HexBytes32,
    timestamp: IntegerText,
    parents: z.array(HexBytes32).min(1),
  }),
  values: z.array(z.tuple([z.string(), digest, z.unknown()])),
  /** Names of values that were sent before with this digest, at any block. */
  same: z.array(z.tuple([z.string(), digest])),
  failed: z.array(z.string()),
  /** Whether it reads nothing more at this block. */
  isOver: z.boolean(),
});

/** Which pools a process has requests for. */
const Report = z.object({
  id: z.string(),
  /** Absent: the same as in its last report. */
  pools: z.array(z.tuple([HexAddress, z.enum(['prices', 'depths']), z.boolean()])).optional(),
});

export type ReadsMessage = z.infer<typeof Reads>;

/** @throws SyntaxError or ZodError when it is malformed */
export const parseReads = (text: string): ReadsMessage => Reads.parse(JSON.parse(text));

/** Whether the process of this name wrote a message. Does not parse the message. */
export const isWrittenBy = (id: string, text: string): boolean => text.startsWith(`{"id":"${id}"`);

/** @param values name, digest and JSON of each */
export function writeReads(
  { id, block, ...rest }: Omit<ReadsMessage, 'values' | 'block' | 'state'> & { readonly block: BlockHeader },
  values: readonly (readonly [name: string, digest: string, json: string])[],
): string {
  const { number, hash, parents, timestamp } = block;
  const at = { number: String(number), hash, timestamp: String(timestamp), parents };
  const joined = values.map(([name, digest, json]) => [name, digest, new ReadyJson(json)]);
  return joinJson({ id, state: stateOf(block), block: at, ...rest, values: joined }).join('');
}

/** @throws SyntaxError or ZodError when it is malformed */
export function parseReport(text: string): { readonly id: string; readonly pools: RequestedPool[] | undefined } {
  const { id, pools } = Report.parse(JSON.parse(text));
  return { id, pools: pools?.map(([address, kind, byKey]): RequestedPool => ({ address, kind, byKey })) };
}

/** @param pools undefined: the same as in the last report */
export function writeReport(id: string, pools: readonly RequestedPool[] | undefined): string {
  return JSON.stringify({ id, pools: pools?.map(({ address, kind, byKey }) => [address, kind, byKey]) });
}
