import { createRedisDatabase } from '../harness/redis.ts';
import { createBodies } from './quote-bodies.ts';
import { startMocks, startRig } from './rig.ts';

/** Mock builders, a rig on a Redis database of its own, and valid bodies: what most tests of quote updates need. */
export async function startWorld() {
  const [redis, mocks, bodies] = await Promise.all([createRedisDatabase(), startMocks(), createBodies()]);
  const rig = await startRig(redis.url, mocks);
  return {
    redis,
    mocks,
    bodies,
    rig,
    async stop() {
      await rig.stop();
      await Promise.all([mocks.stop(), redis.drop()]);
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
