import fc from 'fast-check';
import { test } from 'vitest';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { fillParts } from './part-fills.ts';
import { startPartWorld } from './part-world.ts';

/*
 * The promise of quotes after a part: what a pool offers fills in a call at the tag pending,
 * for as long as the part is the newest. The soak of parts tries more.
 */

const FILLS = 200;

const world = startedWorld(() => startPartWorld({ flatPools: 6, packedPools: 6, node: { form: 'payload' } }));

test(`${FILLS} amounts of quotes after parts fill there`, async () => {
  await fillParts(world, FILLS, seededRandom(fc.readConfigureGlobal().seed ?? 0));
});
