import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { MAX_FULL_TICKS, MAX_IDLE_TICKS } from './next-subscriber.ts';
import { ADDRESSES, SubscriberWorld } from './subscriber-world.fixture.ts';

test('a client that takes little gets each quote as it is by then, and nothing in between', () => {
  const world = new SubscriberWorld();
  world.take({ kind: 'subscribe', subscription: { pools: ADDRESSES.slice(0, 1), depth: false } });
  world.mine(0);
  world.read('prices', [[0, 1n]]);
  world.room = 0;
  for (const price of [2n, 3n, 2n, 3n]) {
    world.mine(0);
    world.read('prices', [[0, price]]);
  }
  expect(world.book.events).toEqual(['snapshot']);
  world.room = 9;
  world.take({ kind: 'drained' });
  expect(world.book.events).toEqual(['snapshot', 'update']);
  expect(world.book.quotes.get(ADDRESSES[0] as Address)?.quote).toMatchObject({ bidAdj: '3' });
});

test('an idle client gets a heartbeat in the fourteenth second, one that takes nothing is terminated in the eleventh', () => {
  const world = new SubscriberWorld();
  world.take({ kind: 'subscribe', subscription: { pools: ADDRESSES.slice(0, 1), depth: false } });
  world.mine(0);
  world.read('prices', [[0, 1n]]);
  for (let second = 1; second < MAX_IDLE_TICKS; second += 1) world.tick();
  expect(world.book.events).toEqual(['snapshot']);
  world.tick();
  expect(world.book.events).toEqual(['snapshot', 'heartbeat']);
  world.room = 0;
  for (let second = 1; second <= MAX_FULL_TICKS; second += 1) world.tick();
  expect(world.ends).toEqual([]);
  world.tick();
  expect(world.ends).toEqual(['terminate']);
});
