import { beforeAll, expect, test } from 'vitest';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { feedWords } from '../../devnet/live/registry.ts';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { fillParts } from '../live/part-fills.ts';
import { FollowedParts, PART_TRAPS, TRAP_PAIRS, trapName } from '../live/part-traps.ts';
import { startPartWorld } from '../live/part-world.ts';
import { IS_LONG, SOAK_SEED } from './settings.ts';

const FILLS = IS_LONG ? 20_000 : 3_000;
/** Of each trap: a minute of a sequencer. */
const PARTS = IS_LONG ? 300 : 12;
const PACE_MS = IS_LONG ? 200 : 0;
const print = (text: string) => process.stdout.write(`${text}\n`);

const world = startedWorld(() => startPartWorld({ flatPools: 6, packedPools: 6, node: { form: 'payload' } }));
const unguarded = startedWorld(() => startPartWorld({ guards: ['none'], node: { form: 'payload' } }));
let followed: FollowedParts;
beforeAll(async () => {
  followed = await FollowedParts.open(unguarded);
});

test(`${FILLS} amounts of quotes after parts fill there`, { timeout: 3_600_000 }, async () => {
  print(JSON.stringify(await fillParts(world, FILLS, seededRandom(SOAK_SEED))));
});

test.each([...PART_TRAPS, ...TRAP_PAIRS].map((traps) => [trapName(traps), traps] as const))(
  `${PARTS} parts of a node in the trap %s: no quote is of a wrong state, and the next part is quoted`,
  { timeout: 600_000 },
  async (_, traps) => {
    print(JSON.stringify(await followed.trap(traps, PARTS, PACE_MS)));
  },
);

test('a quote of a wrong state would be seen', { timeout: 60_000 }, async () => {
  const { market, node } = unguarded;
  const [pool] = market.pools;
  if (!pool) throw new Error('no pool');
  while (node.part().index > 0) await node.nextPart();
  const stateDiff = feedWords(pool.feedId, node.part().timeSecs, priceAround(207n));
  const divergent = { kind: 'divergent', overrides: { [market.registry]: { stateDiff } } } as const;
  await expect(followed.live([divergent])).rejects.toThrow('divergent, pool 0, live');
});
