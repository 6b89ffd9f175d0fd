import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { OtherPart } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { HeadContext, PriceSnapshot } from '../types.ts';
import { PartReader, type PartReaderDeps } from './part-reader.ts';

const MULTICALL: Address = '0xca11bde05977b3631167028862be2a173976ca11';
const pool = { address: '0x01', extensions: [] } as unknown as ServedPool;
const viewOf = (feesWei: bigint): PartView => ({ blockNumber: 10n, timestamp: 1_020n, parentHash: null, feesWei });

const headAt = (feesWei: bigint | null): HeadContext => {
  const block = { number: 9n, hash: '0x09', timestamp: 1_018n, parents: ['0x08'] } as const;
  if (feesWei === null) return { block, endpoint: null };
  const part = { view: viewOf(feesWei), index: null, multicall3: MULTICALL };
  const state = { overrides: new Map(), digest: String(feesWei), receivedAt: 0, part };
  return { block: { ...block, pending: { blockNumber: 10n, timestamp: 1_020n, ...state } }, endpoint: null };
};

/** A reader whose nodes are at parts with these fees, one after the other; the last one stays. */
function readerOf(
  parts: (bigint | Error)[],
  newest: bigint | null = null,
  { isDivergent = false, isCostly = false } = {},
) {
  const reads: (bigint | null)[] = [];
  const noted: PartView[] = [];
  const snapshotOf = (at: HeadContext) => ({ pool, block: at.block }) as unknown as PriceSnapshot;
  const read = async (at: HeadContext): Promise<never> => {
    reads.push(partOf(at));
    const shown = parts.length > 1 ? parts.shift() : parts[0];
    if (shown instanceof OtherPart && shown.view.feesWei === at.block.pending?.part?.view.feesWei)
      return snapshotOf(at) as never;
    if (shown instanceof Error) throw shown;
    if (shown !== undefined && shown !== at.block.pending?.part?.view.feesWei) throw new OtherPart(viewOf(shown));
    return snapshotOf(at) as never;
  };
  const deps = {
    reader: { prices: read, depth: read },
    committed: { read: async () => new Map([[pool.address, snapshotOf(headAt(null))]]) },
    heads: { head: async () => headAt(newest), sourceAge: () => ({ sourceAgeMs: 3 }) },
    note: (view: PartView) => noted.push(view),
    sealed: { isDivergent: () => isDivergent },
    gas: { isCostly: () => isCostly },
    passed: { add: () => undefined },
  } as unknown as PartReaderDeps;
  return { reader: new PartReader(deps), noted, reads };
}

const partOf = (snapshot: { readonly block: HeadContext['block'] | PriceSnapshot['block'] }) =>
  snapshot.block.pending?.part?.view.feesWei ?? null;

test('a pool is read after the part of the head', async () => {
  const { reader } = readerOf([5n]);
  const prices = await reader.prices(headAt(5n), { pool });
  expect([partOf(prices), prices.sourceAgeMs]).toEqual([5n, 3]);
  expect(partOf(await reader.depth(headAt(5n), prices))).toBe(5n);
});

test('without a part it is read at the committed head', async () => {
  expect(partOf(await readerOf([5n]).reader.prices(headAt(null), { pool }))).toBeNull();
});

test('where a newer part came, it is read once more, after that one', async () => {
  const { reader, noted } = readerOf([6n], 6n);
  expect(partOf(await reader.prices(headAt(5n), { pool }))).toBe(6n);
  expect(noted).toEqual([viewOf(6n)]);
});

test('a newer part that pools of one call came to is noted once', async () => {
  const { reader, noted } = readerOf([new OtherPart(viewOf(6n))], 6n);
  const all = await Promise.all(Array.from({ length: 50 }, () => reader.prices(headAt(5n), { pool })));
  expect([new Set(all.map(partOf)), noted]).toEqual([new Set([6n]), [viewOf(6n)]]);
});

test('depth of prices before a newer part is of other prices, after that one', async () => {
  const { reader } = readerOf([5n, 6n], 6n);
  const prices = await reader.prices(headAt(5n), { pool });
  expect(partOf(await reader.depth(headAt(5n), prices))).toBe(6n);
});

test.each<[string, bigint | Error, bigint | null]>([
  ['the part that a call showed is not used', 4n, 5n],
  ['another part comes during each try', 7n, 6n],
  ['the nodes fail', new RpcFailure('timeout', 'late'), null],
])('where %s, the snapshot is committed and provisional', async (_, shown, newest) => {
  const { reader } = readerOf([shown], newest);
  const prices = await reader.prices(headAt(5n), { pool });
  expect([partOf(prices), prices.isProvisional]).toEqual([null, true]);
});

test('a pool that cannot be read after the part is committed', async () => {
  const { reader } = readerOf([new SnapshotError('unavailable', 'no depth')]);
  expect(await reader.prices(headAt(5n), { pool })).not.toHaveProperty('isProvisional');
});

test('a pool that burns gas is not read after a part', async () => {
  const { reader, reads } = readerOf([5n], null, { isCostly: true });
  const prices = await reader.prices(headAt(5n), { pool });
  expect([partOf(prices), prices.isProvisional, reads]).toEqual([null, undefined, []]);
});

test('a divergent part is read, for nobody', async () => {
  const { reader, reads } = readerOf([5n], null, { isDivergent: true });
  const prices = await reader.prices(headAt(5n), { pool });
  expect([partOf(prices), prices.isProvisional, reads]).toEqual([null, undefined, [5n]]);
  expect(partOf(await reader.depth(headAt(5n), prices))).toBeNull();
  expect(reads).toEqual([5n]);
});

test('an exhausted budget is passed on', async () => {
  const { reader } = readerOf([new RpcFailure('exhausted', 'no call left')]);
  await expect(reader.prices(headAt(5n), { pool })).rejects.toThrow('no call left');
});
