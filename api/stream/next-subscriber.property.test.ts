import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { MAX_FULL_TICKS, MAX_IDLE_TICKS } from './next-subscriber.ts';
import { ADDRESSES, POOLS, SubscriberWorld } from './subscriber-world.fixture.ts';

const pool = fc.nat({ max: POOLS.length - 1 });
const kind = fc.constantFrom('prices' as const, 'depths' as const);
const price = fc.option(fc.bigInt(1n, 3n), { nil: undefined, freq: 6 });
const allPools = fc.tuple(price, price, price, price).map((prices) => [...prices.entries()]);
const reads = fc.oneof(fc.array(fc.tuple(pool, price), { maxLength: 6 }), allPools);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('mine' as const), replaced: fc.constantFrom(0, 0, 0, 1, 2) }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('read' as const), kind, prices: reads }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      pools: fc.option(fc.subarray(ADDRESSES), { nil: 'all' as const }),
      depth: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unsubscribe' as const), pools: fc.subarray(ADDRESSES) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('list' as const, 'remove' as const), pool }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('tick' as const), times: fc.integer({ min: 1, max: 16 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fill' as const), room: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reconnect' as const), depth: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('close' as const, 'disconnect' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function act(world: SubscriberWorld, action: Step): void {
  if (action.do === 'mine') world.mine(action.replaced);
  if (action.do === 'read') world.read(action.kind, action.prices);
  if (action.do === 'subscribe') {
    const { pools, depth } = action;
    // They are sent again.
    world.forget(pools === 'all' ? ADDRESSES : pools);
    world.take({ kind: 'subscribe', subscription: { pools, depth } });
  }
  if (action.do === 'unsubscribe') {
    world.take({ kind: 'unsubscribe', pools: action.pools });
    world.forget(action.pools);
  }
  if (action.do === 'list') {
    const { address } = POOLS[action.pool] as (typeof POOLS)[number];
    world.table.put(POOLS[action.pool] as (typeof POOLS)[number]);
    world.take({ kind: 'listed', pool: address });
  }
  if (action.do === 'remove') {
    const { address } = POOLS[action.pool] as (typeof POOLS)[number];
    world.table.remove(POOLS[action.pool] as (typeof POOLS)[number], 'not_served');
    world.take({ kind: 'removed', pool: address, reason: 'not_served' });
  }
  if (action.do === 'tick') for (let times = 0; times < action.times; times += 1) tick(world);
  if (action.do === 'fill') world.room = action.room;
  if (action.do === 'drain') {
    world.room = Number.POSITIVE_INFINITY;
    world.take({ kind: 'drained' });
  }
  if (action.do === 'reconnect') world.reconnect(action.depth);
  if (action.do === 'close') world.take({ kind: 'close', bye: { reason: 'shutdown', retryMs: 1 } });
  if (action.do === 'disconnect') world.take({ kind: 'disconnected' });
}

/** Lets a second pass. */
function tick(world: SubscriberWorld): void {
  const wasOver = world.state.isOver;
  world.tick();
  if (wasOver) return;
  expect(world.ends).toEqual(world.fullTicks > MAX_FULL_TICKS ? ['terminate'] : []);
  const areRead = world.state.subscribed.pools.every(({ address, kind }) => world.latest[kind].get(address));
  const isSpoken = world.isShown && !world.isFull && areRead;
  if (isSpoken) expect(world.ticksSinceMessage).toBeLessThan(MAX_IDLE_TICKS);
}

function check(world: SubscriberWorld): void {
  const { state, pins, ends } = world;
  expect(ends.length).toBe(state.isOver ? 1 : 0);
  expect([...pins].sort()).toEqual(state.subscribed.pools.map(({ address, kind }) => [address, kind]).sort());
  if (state.isOver) expect(pins.size).toBe(0);
}

test('property: a connection holds its pools pinned, says what is so at each end of a block, and ends once', async () => {
  let ended = 0;
  await assertUntil(
    () => ended > 600,
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const world = new SubscriberWorld();
      act(world, { do: 'subscribe', pools: 'all', depth: false });
      for (const action of steps) {
        act(world, action);
        check(world);
      }
      ended += world.ended;
    }),
    { numRuns: runs(400) },
  );
});
