import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';
import { claimInModel, type OwnerModel } from '../../../test/pamm/owner-model.ts';
import { newUuid, updateOf } from '../../../test/pamm/sample-updates.ts';
import { registerInModel, type StreamModel } from '../../../test/pamm/stream-model.ts';
import { RedisKeys } from '../queue/redis-keys.ts';
import type { Hex } from '../quote-update.ts';
import { registerUpdate } from './stream-order.ts';

const database = startedWorld(createRedisDatabase);
let connections: Redis[];
let redis: Redis;
let examples = 0;

beforeAll(async () => {
  connections = Array.from({ length: 4 }, () => new Redis(database.url));
  [redis] = connections as [Redis];
});
afterAll(async () => {
  for (const connection of connections) connection.disconnect();
});

const nextKeys = () => new RedisKeys(`o${examples++}`);

const registered = fc.record({
  holder: fc.constantFrom('k1', 'k2', 'k3'),
  uuid: fc.constantFrom('aa', 'bb').map((byte): Hex => `0x${byte.repeat(16)}`),
  // Beyond 2^53, where a rounding script would take neighbours for equal.
  seq: fc.bigInt({ min: 9007199254740991n, max: 9007199254740995n }),
  tx: fc.constantFrom<Hex>('0x', '0x01', '0x02'),
});

type Registered = typeof registered extends fc.Arbitrary<infer T> ? T : never;

const toUpdate = ({ uuid, seq, tx }: Registered) => updateOf({ replacementUuid: uuid, replacementSeqNumber: seq, tx });

test('any sequence of updates of several keys is registered as the models say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(registered, { minLength: 1, maxLength: 40 }), async (steps) => {
      const keys = nextKeys();
      let owners: OwnerModel = new Map();
      let stream: StreamModel = new Map();
      for (const step of steps) {
        const claimed = claimInModel(owners, step.uuid, step.holder);
        owners = claimed.model;
        const modelled = registerInModel(stream, { uuid: step.uuid, seq: step.seq, content: step.tx });
        if (claimed.isOwner) stream = modelled.model;
        const expected = claimed.isOwner ? modelled.registration : 'foreign';
        expect(await registerUpdate(redis, keys, toUpdate(step), step.holder)).toBe(expected);
      }
    }),
    { numRuns: runs(50) },
  );
});

test('of several keys at the same time one gets a uuid, whichever process each comes to', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(registered, { minLength: 2, maxLength: 30 }), async (steps) => {
      const keys = nextKeys();
      const answers = await Promise.all(
        steps.map(async (step, i) => {
          const connection = connections[i % connections.length] as Redis;
          const registration = await registerUpdate(connection, keys, toUpdate(step), step.holder);
          return { ...step, isOwner: registration !== 'foreign' };
        }),
      );
      for (const uuid of new Set(steps.map((step) => step.uuid))) {
        const holdersWhere = (isOwner: boolean) =>
          new Set(answers.filter((answer) => answer.uuid === uuid && answer.isOwner === isOwner).map((a) => a.holder));
        const owners = holdersWhere(true);
        expect(owners.size).toBe(1);
        for (const owner of owners) expect(holdersWhere(false)).not.toContain(owner);
      }
    }),
    { numRuns: runs(25) },
  );
});

test('a uuid stays its owner’s for longer than its newest update is known, which another key does not lengthen', async () => {
  const keys = nextKeys();
  const replacementUuid = newUuid();
  const update = (seq: bigint) => updateOf({ replacementUuid, replacementSeqNumber: seq });
  const { chainId } = update(1n);
  const [owner, newest] = [keys.owner(chainId, replacementUuid), keys.newestUpdate(chainId, replacementUuid)];
  const lifetimes = async () => [await redis.pttl(owner), await redis.pttl(newest)] as const;

  await registerUpdate(redis, keys, update(5n), 'k1');
  const [ownedMs, knownMs] = await lifetimes();
  // A worker that sends notes the update again, up to 3 seconds after it came.
  expect(ownedMs).toBeGreaterThan(knownMs + 3_000);
  await redis.pexpire(owner, 10_000);
  await redis.pexpire(newest, 5_000);
  expect(await registerUpdate(redis, keys, update(6n), 'k2')).toBe('foreign');
  const [ownedStillMs, knownStillMs] = await lifetimes();
  expect(ownedStillMs).toBeLessThanOrEqual(10_000);
  expect(knownStillMs).toBeLessThanOrEqual(5_000);
  // What is older on the streams may be newer at a bundle builder, by its block.
  expect(await registerUpdate(redis, keys, update(4n), 'k1')).toBe('older');
  expect(await redis.pttl(owner)).toBeGreaterThan(3_600_000);
});
