import { type Address, type Hex, numberToHex } from 'viem';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PriceSnapshot } from '../types.ts';
import { MIN_COMPARED } from './next-divergence.ts';

/** Pools as `SealedChecks` takes them: each state has a name. */

const MULTICALL: Address = '0xca11bde05977b3631167028862be2a173976ca11';
/** As many as decide. */
export const POOLS = Array.from({ length: MIN_COMPARED }, (_, index) => numberToHex(index + 1, { size: 20 }));
export const hashOf = (number: bigint): Hex => numberToHex(number, { size: 32 });
export const timeOf = (number: bigint): bigint => 1_000n + 2n * number;

export const snapshotOf = (address: Address, block: BlockRef, state: string): PriceSnapshot =>
  ({ pool: { address } as ServedPool, block, fingerprint: `${state} rest` }) as PriceSnapshot;

/** A pool after a part of a block, up to which these fees were paid. */
export function partOf(address: Address, blockNumber: bigint, feesWei: bigint, state: string): PriceSnapshot {
  const timestamp = timeOf(blockNumber);
  const view: PartView = { blockNumber, timestamp, parentHash: hashOf(blockNumber - 1n), feesWei };
  const part = { view, index: null, multicall3: MULTICALL };
  const pending = { blockNumber, timestamp, overrides: new Map(), digest: '', receivedAt: 0, part };
  const number = blockNumber - 1n;
  return snapshotOf(address, { number, hash: hashOf(number), timestamp: timeOf(number), pending }, state);
}

/** The same as a node shows it. */
export function shownBy(node: string, { block, ...snapshot }: PriceSnapshot): PriceSnapshot {
  const { pending } = block;
  if (!pending?.part) throw new Error('the pool is not read after a part');
  const part = { ...pending.part, view: { ...pending.part.view, node } };
  return { ...snapshot, block: { ...block, pending: { ...pending, part } } };
}

export const blockOf = (number: bigint): BlockRef => ({ number, hash: hashOf(number), timestamp: timeOf(number) });
