import { z } from 'zod';
import type { BlockHeader } from '../../chain/chain-rpc.ts';
import { HexAddress, HexBytes32 } from '../../config/scalars.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import type { RequestedPool } from '../requested/requested-pools.ts';

/** Raised with each change of a message or of what is published, so that only processes of one form meet. */
export const FORMAT = 3;

const number = z.string().regex(/^\d+$/).transform(BigInt);
const digest = z.string();

/** What a process read at a block since its message before. */
const Reads = z.object({
  id: z.string(),
  block: z.object({ number, hash: HexBytes32, timestamp: number, parents: z.array(HexBytes32).min(1) }),
  values: z.array(z.tuple([z.string(), digest, z.unknown()])),
  /** Values that were sent with this digest before, at whatever block. */
  same: z.array(z.tuple([z.string(), digest])),
  failed: z.array(z.string()),
  /** Whether it reads nothing more at this block. */
  isOver: z.boolean(),
});

/** Which pools a process has requests for. */
const Report = z.object({
  id: z.string(),
  /** Absent: those of its report before. */
  pools: z.array(z.tuple([HexAddress, z.enum(['prices', 'depths']), z.boolean()])).optional(),
});

export type ReadsMessage = z.infer<typeof Reads>;

/** @throws SyntaxError or ZodError when it is none */
export const parseReads = (text: string): ReadsMessage => Reads.parse(JSON.parse(text));

/** Whether a process of this name wrote a message; does not parse it. */
export const isReadsOf = (id: string, text: string): boolean => text.startsWith(`{"id":"${id}"`);

/** @param values name, digest and JSON of each */
export function writeReads(
  { id, block, ...rest }: Omit<ReadsMessage, 'values' | 'block'> & { readonly block: BlockHeader },
  values: readonly (readonly [name: string, digest: string, json: string])[],
): string {
  const { number, hash, parents, timestamp } = block;
  const at = { number: String(number), hash, timestamp: String(timestamp), parents };
  const joined = values.map(([name, digest, json]) => [name, digest, new ReadyJson(json)]);
  return joinJson({ id, block: at, ...rest, values: joined }).join('');
}

/** @throws SyntaxError or ZodError when it is none */
export function parseReport(text: string): { readonly id: string; readonly pools: RequestedPool[] | undefined } {
  const { id, pools } = Report.parse(JSON.parse(text));
  return { id, pools: pools?.map(([address, kind, byKey]): RequestedPool => ({ address, kind, byKey })) };
}

/** @param pools undefined: those of the report before */
export function writeReport(id: string, pools: readonly RequestedPool[] | undefined): string {
  return JSON.stringify({ id, pools: pools?.map(({ address, kind, byKey }) => [address, kind, byKey]) });
}
