import { type Address, type Hex, numberToHex } from 'viem';
import { type PendingState, type StateOverrides, stateDiffs, type TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { SLOT_CHAIN, slotAt } from './slots.ts';

/**
 * The published forms of frames: a block builder's (`parseBuilderFrame`), and that of relayers (`parseRelayerFrame`).
 * Builders send numbers in frames, but answer a call for state overrides with the block in hex: clients read no other.
 */
export type FrameForm = 'builder' | 'builderAnswer' | 'bap710';

type Venues = readonly (readonly [Address, StateOverrides])[];

/**
 * The first fields of a frame, as JSON without braces. Builders name the slot,
 * and when the frame was made in nanoseconds.
 *
 * @param wallMs now, as Unix milliseconds
 */
export function frameHead(form: FrameForm, chainId: number, target: TargetBlock, wallMs: number): string {
  const { blockNumber, timestamp } = target;
  if (form === 'bap710') return `"blockNumber":${blockNumber},"millisTimestamp":${wallMs}`;
  // A slot may pass without a block.
  const slotTime = maxBigint(timestamp, BigInt(Math.floor(wallMs / 1_000)));
  const slot = chainId === SLOT_CHAIN ? `"slot":${slotAt(slotTime)},` : '';
  const number = form === 'builder' ? blockNumber : `"${numberToHex(blockNumber)}"`;
  return `${slot}"blockNumber":${number},"timestamp":${BigInt(wallMs) * 1_000_000n}`;
}

/**
 * The block that a frame was read at, as a field of JSON: after a reorganisation it has another hash at the same
 * number, or a lower one. Strict clients take every other field of builders' overrides for a venue,
 * so that these have none.
 */
export const parentField = ({ number, hash }: Pick<BlockRef, 'number' | 'hash'>): string =>
  `"parent":{"number":${number},"hash":"${hash}"}`;

/**
 * Writes the overrides that may be passed on as one JSON text.
 *
 * @param head its first fields
 * @param routers the venues to show; none means all
 */
export function writeOverrides(
  form: FrameForm,
  head: string,
  republished: PendingState['republished'],
  routers: readonly Address[],
): string {
  const venues = [...(republished ?? [])];
  const shown = venues.filter(([venue]) => routers.length === 0 || routers.includes(venue));
  return form === 'bap710' ? `{${head},${relayerFields(shown)}}` : `{${head}${builderFields(shown)}}`;
}

const builderFields = (venues: Venues): string =>
  venues
    .map(([venue, overrides]) => `,"${venue}":${JSON.stringify({ stateOverride: stateDiffs(overrides) })}`)
    .join('');

function relayerFields(venues: Venues): string {
  const merged: Record<Address, Record<Hex, Hex>> = {};
  // The newest venue comes first, and its overrides win.
  for (const [, overrides] of venues.toReversed())
    for (const [account, slots] of overrides) merged[account] = { ...merged[account], ...Object.fromEntries(slots) };
  const listed = venues.map(([router, overrides]) => ({ router, overrides: plain(overrides) }));
  return `"overrides":${JSON.stringify(merged)},"venues":${JSON.stringify(listed)}`;
}

const plain = (overrides: StateOverrides) =>
  Object.fromEntries([...overrides].map(([account, slots]) => [account, Object.fromEntries(slots)]));
