import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { decodeBuilderFrame } from '../../test/takers/decoders.ts';
import { unknownShares } from './unknown-extras.fixture.ts';
import { type LevelsChain, writeLevels } from './write-levels.ts';

const committed: BlockRef = { number: 7n, hash: `0x${'07'.repeat(32)}`, timestamp: 84n };
const pending = { blockNumber: 8n, timestamp: 96n, overrides: new Map(), digest: '', receivedAt: 0 };

test('what holds in a block goes out under its own number: not once another process has taken that', async () => {
  const heads = { top: 7n, isPassed: false };
  const chain = { chainId: 7, blockTimeMs: 12_000, heads } as unknown as LevelsChain;
  const shape = {
    format: 'builder',
    venue: null,
    shares: unknownShares,
    now: () => 0,
    stamp: async () => 1_794_999_975_000,
  } as const;
  const numberAt = async (block: BlockRef) => {
    const json = await writeLevels(chain, shape, block, []);
    return json === null ? null : decodeBuilderFrame(json).blockNumber;
  };
  expect(await numberAt({ ...committed, pending })).toBe(8n);
  heads.isPassed = true;
  expect(await numberAt({ ...committed, pending })).toBeNull();
  expect(await numberAt(committed)).toBe(9n);
});
