import { openWorld, startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { createBodies } from './quote-bodies.ts';
import { startMocks, startRig } from './rig.ts';

/** For one test file: mock builders, a rig on a Redis database of its own, and valid bodies. */
export function pammWorld(options?: Parameters<typeof startRig>[2]) {
  const redis = startedWorld(createRedisDatabase);
  const mocks = startedWorld(startMocks);
  const rig = startedWorld(() => startRig(redis.url, mocks, options));
  return { redis, mocks, rig, bodies: openWorld(createBodies) };
}
