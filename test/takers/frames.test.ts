import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame } from '../../api/levels/encode-frame.ts';
import { FORMATS } from '../../api/levels/forms.ts';
import { answerMessage } from '../../api/levels/json-rpc.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { anyVenues } from '../../quoting/live/frames.fixture.ts';
import { type FrameForm, frameHead, parentField, writeOverrides } from '../../quoting/live/write-frame.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { ReadyJson } from '../../runtime/joined-json.ts';
import { createLogger } from '../../runtime/logger.ts';
import { assertEqual } from '../harness/assert-equal.ts';
import { DECODERS, decodeBap710Overrides, decodeBuilderAnswer, decodeBuilderOverrides } from './decoders.ts';

/*
 * Decoders that know the published forms alone read each of many frames as what it was made of, alone and as the result
 * of a call. `test/soak/frames.soak.ts` reads them over each path.
 */

const FRAMES = 10_000;
const SEED = fc.readConfigureGlobal().seed ?? 0;
const WALL_MS = 1_794_999_975_000;
const parent = { number: 25_000_000n, hash: `0x${'5c'.repeat(32)}` } as const;
const block = { ...parent, timestamp: 1_794_999_971n, parents: [] } as never;
const target = { blockNumber: 25_000_001n, timestamp: 1_794_999_983n };
const chainOf = (made: number) => (made % 2 === 0 ? 1 : 31_337);

const CALL = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x"}');
/** One for all frames: making it takes longer than reading a frame. */
const logger = createLogger('test', 'silent');

/** As a frame comes out of the response to a call. */
async function throughRpc(json: string): Promise<string> {
  const response = await answerMessage(CALL, async () => new ReadyJson(json), logger);
  return /^\{"jsonrpc":"2.0","id":1,"result":(.*)\}$/.exec(response ?? '')?.[1] ?? '';
}

test.each(FORMATS)(`${FRAMES} frames of price levels pass the strict decoder of %s`, async (format) => {
  const random = seededRandom(SEED);
  const snapshots = Array.from({ length: 200 }, (_, n): DepthSnapshot => {
    const priced = withOneLevel(pricedAt(BigInt(random.integer(2, 1_000_000)), flatPool(n), block));
    let [cumulativeInput, cumulativeOutput] = [0n, 0n];
    const bids = Array.from({ length: random.integer(1, 6) }, (_level, bin) => {
      cumulativeInput += BigInt(random.integer(1, 1_000_000)) ** 3n;
      cumulativeOutput += BigInt(random.integer(1, 1_000_000)) ** 2n;
      return { bin, priceX64: 1n, priceImpactE6: 0n, cumulativeInput, cumulativeOutput };
    });
    return { ...priced, depth: { bids, asks: random.chance(50) ? bids : [] } };
  });
  let pairs = 0;
  for (let made = 0; made < FRAMES; made += 1) {
    const from = random.integer(0, snapshots.length - 1);
    const shown = snapshots.slice(from, from + random.integer(0, 3));
    const venue = random.chance(10) ? flatPool(999).address : null;
    const omitted = random.chance(30) ? random.integer(0, 500) : undefined;
    const levels = random.chance(30) ? random.integer(1, 4) : undefined;
    const gasOf = (whole: number) => ({ whole, part: whole, perBin: 0 });
    const gas = { bids: random.chance(50) ? gasOf(182_000) : null, asks: gasOf(191_000) };
    const shares = { committedShare: random.integer(0, 100) / 100, liveShare: random.chance(50) ? 0.98 : null };
    const shape = { format, venue, levels, omitted, extrasOf: () => ({ gas, shares }) };
    const bare = frameHead(format, chainOf(made), target, WALL_MS);
    const { json } = await encodeFrame(shape, made % 5 === 0 ? bare : `${bare},${parentField(parent)}`, shown);
    const frame = DECODERS[format](made % 2 === 0 ? json : await throughRpc(json));
    const shownParent = made % 5 === 0 ? null : parent;
    const { blockNumber, madeAt, slot } = frame;
    const hasSlot = format === 'builder' && chainOf(made) === 1;
    assertEqual(
      [blockNumber, madeAt, frame.parent, slot !== null, frame.omitted],
      [target.blockNumber, WALL_MS, shownParent, hasSlot, omitted === undefined ? null : BigInt(omitted)],
    );
    const ends = shown.flatMap(({ pool, depth }) =>
      [depth.bids, depth.asks].flatMap((side) => {
        const end = side.at(-1);
        return end ? [[venue ?? pool.address, end.cumulativeInput, end.cumulativeOutput]] : [];
      }),
    );
    const read = frame.pairs.map(({ pamm, levels: all }) => [pamm, all.at(-1)?.amountIn, all.at(-1)?.amountOut]);
    assertEqual(read, ends);
    pairs += read.length;
  }
  expect(pairs).toBeGreaterThan(FRAMES);
});

test(`${FRAMES} frames of state overrides pass the strict decoder of either form`, async () => {
  const drawn = fc.sample(anyVenues, { numRuns: 500, seed: SEED });
  let words = 0;
  for (let made = 0; made < FRAMES; made += 1) {
    const republished = drawn[made % drawn.length] ?? new Map();
    const isCalled = made % 4 > 1;
    const textOf = async (format: FrameForm) => {
      const head = frameHead(format, chainOf(made), target, WALL_MS);
      const fields = format !== 'bap710' || made % 5 === 0 ? head : `${head},${parentField(parent)}`;
      const json = writeOverrides(format, fields, republished, []);
      return isCalled ? throughRpc(json) : json;
    };
    const sent = new Map(
      [...republished].map(([venue, accounts]) => [
        venue,
        Object.fromEntries([...accounts].map(([account, slots]) => [account, Object.fromEntries(slots)])),
      ]),
    );
    const builder = isCalled
      ? decodeBuilderAnswer(await textOf('builderAnswer'))
      : decodeBuilderOverrides(await textOf('builder'));
    const bap710 = decodeBap710Overrides(await textOf('bap710'));
    for (const { venues, blockNumber, madeAt } of [builder, bap710])
      assertEqual([venues, blockNumber, madeAt], [sent, target.blockNumber, WALL_MS]);
    words += Object.keys(bap710.merged).length;
  }
  expect(words).toBeGreaterThan(FRAMES);
});
