import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import { decodeBuilderFrame } from '../../test/takers/decoders.ts';
import { unknownShares } from './unknown-extras.fixture.ts';
import { type LevelsChain, type ShownShape, writeLevels } from './write-levels.ts';

const committed: BlockRef = { number: 7n, hash: `0x${'07'.repeat(32)}`, timestamp: 84n };
const pending = { blockNumber: 8n, timestamp: 96n, overrides: new Map(), digest: '', receivedAt: 0 };
const shape: ShownShape = {
  format: 'builder',
  venue: null,
  shares: unknownShares,
  now: () => 0,
  stamp: async () => 1_794_999_975_000,
};

test('what holds in a block goes out under its own number: not once another process has taken that', async () => {
  const heads = { top: 7n, isPassed: false };
  const chain = { chainId: 7, blockTimeMs: 12_000, heads } as unknown as LevelsChain;
  const numberAt = async (block: BlockRef) => {
    const json = await writeLevels(chain, shape, block, []);
    return json === null ? null : decodeBuilderFrame(json).blockNumber;
  };
  expect(await numberAt({ ...committed, pending })).toBe(8n);
  heads.isPassed = true;
  expect(await numberAt({ ...committed, pending })).toBeNull();
  expect(await numberAt(committed)).toBe(9n);
});

test('gas of a pool that is shown as it is in the committed block is measured there, that of others in the block', async () => {
  const live = { ...committed, pending };
  const measured: [pool: string, block: BlockRef][] = [];
  const of: LevelsChain['swapGas']['of'] = ({ pool }, block) => {
    measured.push([pool.address, block]);
    return { bids: null, asks: null };
  };
  const chain = { chainId: 7, blockTimeMs: 12_000, heads: { top: 7n }, swapGas: { of } } as unknown as LevelsChain;
  const shown = [live, committed].map((block, index) => withOneLevel(pricedAt(2n, flatPool(index), block)));
  const newer = { ...committed, pending: { ...pending, digest: 'newer' } };
  expect(await writeLevels(chain, shape, newer, shown)).not.toBeNull();
  expect(measured).toEqual(shown.map(({ pool }, index) => [pool.address, index === 0 ? newer : committed]));
});
