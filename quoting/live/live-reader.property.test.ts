import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { CHECK_MS, OracleWorld, POINTER, POOL, priceIn, REUSE_MS } from './oracle-world.fixture.ts';

const step = fc.oneof(
  fc.record({
    kind: fc.constant('word' as const),
    slot: fc.integer({ min: 1, max: 3 }),
    value: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ kind: fc.constant('pointer' as const), value: fc.integer({ min: 1, max: 3 }), isBase: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('foreign' as const, 'drop' as const, 'block' as const) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 2 * CHECK_MS }) }),
);

function apply(world: OracleWorld, each: typeof step extends fc.Arbitrary<infer S> ? S : never): void {
  world.now += 50;
  if (each.kind === 'word') world.overrides = new Map([...world.overrides, [each.slot, each.value]]);
  else if (each.kind === 'pointer' && !each.isBase)
    world.overrides = new Map([...world.overrides, [POINTER, each.value]]);
  else if (each.kind === 'foreign') world.foreign += 1;
  else if (each.kind === 'drop') world.overrides = new Map();
  else if (each.kind === 'wait') world.now += each.ms;
  else {
    world.block += 1;
    if (each.kind === 'pointer') world.base = new Map([...world.base, [POINTER, each.value]]);
  }
}

test('whatever changes, a price that is wrong for its state is corrected within the time that reads are used again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), fc.boolean(), async (steps, mayMove) => {
      const world = new OracleWorld();
      let wrongSince: number | null = null;
      for (const each of steps) {
        if (each.kind === 'pointer' && !mayMove) continue;
        apply(world, each);
        const { bidX64, block } = await world.reader.prices(world.head, { pool: POOL });
        await world.settle();
        const expected = world.livePrice ?? priceIn(world.base);
        const isRight = bidX64 === BigInt(expected) && (block.pending !== undefined) === (world.livePrice !== null);
        // What prices read moves in the chain or with overrides alone: otherwise they are never wrong.
        if (!isRight) expect(mayMove).toBe(true);
        wrongSince = isRight ? null : (wrongSince ?? world.now);
        const bound = block.pending ? REUSE_MS : CHECK_MS;
        if (wrongSince !== null) expect(world.now - wrongSince).toBeLessThan(bound);
      }
    }),
    { numRuns: runs(300) },
  );
});
