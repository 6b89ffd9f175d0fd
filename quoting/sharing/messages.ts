import type { Address } from 'viem';
import { z } from 'zod';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { HexAddress, HexBytes32, IntegerText } from '../../config/scalars.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import { encodeBigints } from '../../runtime/json.ts';
import type { SharedOverrides } from '../live/shared-overrides.ts';
import type { SourceName } from '../live/source-parts.ts';
import type { SealedPools } from '../parts/divergence.ts';
import type { SealedFees } from '../parts/next-lag.ts';
import type { SharedPart } from '../parts/part-feed.ts';
import type { RequestedPool } from '../requested/requested-pools.ts';
import { QUOTE_KINDS } from '../types.ts';

/** To be raised when messages or what is published change: only processes of the same format share reads. */
export const FORMAT = 9;

const digest = z.string();

/**
 * How high the head is that a process took; null: it asks for those of others.
 * `target`: the block being built that it named last.
 */
const Height = z.object({ id: z.string(), number: IntegerText.nullable(), target: IntegerText.optional() });

/** What a process read at a block since its last message. */
const Reads = z.object({
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

const AgeMs = z.number().nonnegative();
const mapOf = <K, V>(key: z.ZodType<K>, value: z.ZodType<V>) =>
  z.array(z.tuple([key, value])).transform((entries): ReadonlyMap<K, V> => new Map(entries as [K, V][]));
const Part = z.object({
  venue: HexAddress,
  timestamp: IntegerText.nullable(),
  order: z.int().positive(),
  overrides: mapOf(HexAddress, mapOf(HexBytes32, z.tuple([HexBytes32, z.int().nonnegative()]))),
  ageMs: AgeMs,
});

/**
 * `SharedOverrides`; maps are lists of entries. That there are none is no other message: it names the blocks and
 * sources that say so, each without parts, because what other sources said is not contradicted.
 */
const Overrides = z.object({
  blocks: z
    .array(
      z.object({
        blockNumber: IntegerText,
        ageMs: AgeMs,
        aloneMs: AgeMs,
        sources: z.array(
          z.object({ source: z.object({ id: z.string(), republish: z.boolean().optional() }), parts: z.array(Part) }),
        ),
      }),
    )
    .min(1),
});

const FeesWei = z
  .string()
  .regex(/^\d{1,80}$/)
  .transform(BigInt);

/** What the accounts of fees hold in a sealed block. */
const FeesMessage = z.object({ number: IntegerText, hash: HexBytes32, feesWei: FeesWei });

/** A part of a block being built, as the calls of a process show it. */
const SharedPartMessage = z.object({
  /** Names the process for the order of those that read. */
  from: z.string(),
  view: z.object({
    blockNumber: IntegerText,
    timestamp: IntegerText,
    parentHash: HexBytes32.nullable(),
    feesWei: FeesWei,
    node: z.string().optional(),
  }),
  index: z.int().nonnegative().nullable(),
});

const CostlyMessage = z.object({ pool: HexAddress });

/** Pools of a sealed block, compared with its last part. */
const SealedMessage = z.object({
  blockNumber: IntegerText,
  timestamp: IntegerText,
  node: z.string().optional(),
  same: z.array(HexAddress),
  different: z.array(HexAddress),
});

/** Which pools a process has requests for. */
const Report = z.object({
  id: z.string(),
  /** Null: the same as in its last report. */
  pools: z.array(z.tuple([HexAddress, z.enum(QUOTE_KINDS), z.boolean()])).nullable(),
});

/** @throws SyntaxError or ZodError when it is malformed */
export const parsePart = (text: string): SharedPart & { readonly from: string } =>
  SharedPartMessage.parse(JSON.parse(text));

export const writePart = (from: string, part: SharedPart): string => encodeBigints({ from, ...part });

/** @throws SyntaxError or ZodError when it is malformed */
export const parseCostly = (text: string): Address => CostlyMessage.parse(JSON.parse(text)).pool;

export const writeCostly = (pool: Address): string => JSON.stringify({ pool });

/** @throws SyntaxError or ZodError when it is malformed */
export const parseSealed = (text: string): SealedPools => SealedMessage.parse(JSON.parse(text));

export const writeSealed = (pools: SealedPools): string => encodeBigints(pools);

/** @throws SyntaxError or ZodError when it is malformed */
export const parseFees = (text: string): SealedFees => FeesMessage.parse(JSON.parse(text));

export const writeFees = (fees: SealedFees): string => encodeBigints(fees);

export type ReadsMessage = z.infer<typeof Reads>;

/** @throws SyntaxError or ZodError when it is malformed */
export const parseReads = (text: string): ReadsMessage => Reads.parse(JSON.parse(text));

/** @param values name, digest and JSON of each */
export function writeReads(
  { block, ...rest }: Omit<ReadsMessage, 'values' | 'block' | 'state'> & { readonly block: BlockHeader },
  values: readonly (readonly [name: string, digest: string, json: string])[],
): string {
  const { number, hash, parents, timestamp } = block;
  const at = { number: String(number), hash, timestamp: String(timestamp), parents };
  const joined = values.map(([name, digest, json]) => [name, digest, new ReadyJson(json)]);
  return joinJson({ state: stateOf(block), block: at, ...rest, values: joined }).join('');
}

/** @throws SyntaxError or ZodError when it is malformed */
export const parseHeight = (text: string) => Height.parse(JSON.parse(text));

/** @param number null asks other processes for theirs */
export const writeHeight = (number: bigint | null, target?: bigint): string => encodeBigints({ number, target });

/** @throws SyntaxError or ZodError when it is malformed */
export function parseReport(text: string): { readonly id: string; readonly pools: RequestedPool[] | null } {
  const { id, pools } = Report.parse(JSON.parse(text));
  return { id, pools: pools?.map(([address, kind, byKey]): RequestedPool => ({ address, kind, byKey })) ?? null };
}

/** @param pools null: the same as in the last report */
export function writeReport(pools: readonly RequestedPool[] | null): string {
  return JSON.stringify({ pools: pools?.map(({ address, kind, byKey }) => [address, kind, byKey]) ?? null });
}

/** @throws SyntaxError or ZodError when it is malformed */
export const parseOverrides = (text: string): SharedOverrides<SourceName> => Overrides.parse(JSON.parse(text)).blocks;

export const writeOverrides = (blocks: SharedOverrides<SourceName>): string => encodeBigints({ blocks });
