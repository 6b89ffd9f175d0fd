import { expect, test } from 'vitest';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import { decodeBap710Frame, decodeBuilderFrame } from '../../test/takers/decoders.ts';
import { encodeFrame, MAX_FRAME_BYTES } from './encode-frame.ts';

const HEADS = {
  builder: '"blockNumber":7,"timestamp":1794999975000000000',
  bap710: '"blockNumber":7,"millisTimestamp":1794999975000',
};
const block = { number: 6n, hash: `0x${'06'.repeat(32)}`, timestamp: 6n, parents: [] } as never;
const snapshots = Array.from({ length: 4_000 }, (_, index) => {
  const priced = pricedAt(2n, flatPool(index), block, { readAt: 0, hasSource: false, hasLivePrice: false });
  return withOneLevel(priced);
});

test.each([
  ['builder', decodeBuilderFrame],
  ['bap710', decodeBap710Frame],
] as const)(
  'a frame for everybody leaves out the last pools so that it is not long, and counts them: %s',
  async (format, decode) => {
    const frame = await encodeFrame({ format, venue: null, omitted: 10 }, HEADS[format], snapshots);
    const { pairs, omitted } = decode(frame.json);
    const shown = [...new Set(pairs.map(({ pamm }) => pamm))];
    expect(frame.json.length).toBeLessThan(900_000);
    expect(frame.json.length).toBeGreaterThan(MAX_FRAME_BYTES - 2_000);
    expect(shown).toEqual(snapshots.slice(0, shown.length).map(({ pool }) => pool.address));
    expect(Number(omitted)).toBe(10 + snapshots.length - shown.length);
    expect(frame.pamms).toBe(shown.length);
    expect(frame.levels).toBe(pairs.reduce((sum, { levels }) => sum + levels.length, 0));
  },
);

test('any other frame has all pools, and does not speak of others', async () => {
  const { json, pamms } = await encodeFrame({ format: 'builder', venue: null }, HEADS.builder, snapshots);
  expect(json.length).toBeGreaterThan(900_000);
  expect([pamms, decodeBuilderFrame(json).omitted]).toEqual([snapshots.length, null]);
});

test('a frame of fewer levels has them in both forms, whatever was written of the same snapshot', async () => {
  const [snapshot] = snapshots;
  if (!snapshot) throw new Error('there is no snapshot');
  const bids = Array.from({ length: 50 }, (_, bin) => {
    const cumulative = { cumulativeInput: BigInt(bin + 1) * 100n, cumulativeOutput: BigInt(bin + 1) * 7n };
    return { bin, priceX64: 1n, priceImpactE6: 0n, ...cumulative };
  });
  const deep = { ...snapshot, depth: { bids, asks: [] }, curve: null };
  const sizes = [];
  for (const levels of [5, undefined, 1, 5]) {
    const frames = await Promise.all([
      encodeFrame({ format: 'builder', venue: null, levels }, HEADS.builder, [deep]),
      encodeFrame({ format: 'bap710', venue: null, levels }, HEADS.bap710, [deep]),
    ]);
    const [builder, bap710] = frames.map(({ json }) => json) as [string, string];
    const { pairs } = decodeBuilderFrame(builder);
    expect(decodeBap710Frame(bap710).pairs).toEqual(pairs);
    const shown = pairs.flatMap((pair) => pair.levels);
    expect(frames.map((frame) => frame.levels)).toEqual([shown.length, shown.length]);
    expect(shown.at(-1)).toMatchObject({ amountIn: 5_000n, amountOut: 350n });
    sizes.push(shown.length);
  }
  expect(sizes).toEqual([5, 50, 1, 5]);
});
