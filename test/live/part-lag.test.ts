import { expect, test, vi } from 'vitest';
import type { Part } from '../../devnet/parts/part.ts';
import { LAG_BLOCKS } from '../../quoting/parts/next-lag.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/** A node whose calls run in the next block, on the state of the head: no call shows that by itself. */

const world = startedWorld(() => startPartWorld({ node: { form: 'payload', partsPerBlock: 2 } }));

const kindsOf = async () => (await quotesOf(world)).map(({ basis }) => basis?.kind);
/** Waits until all quotes are live in a block, whatever its part. */
const liveIn = ({ number }: Part) =>
  vi.waitFor(async () => {
    for (const { basis } of await quotesOf(world))
      expect(basis).toMatchObject({ kind: 'live', targetBlockNumber: Number(number) });
  });
const all = (kind: string) => world.market.pools.map(() => kind);
const isWarned = () => Object.values(world.api.warnings()).some((text) => text.includes('(lagging)'));

/** Seals the block of the newest part, and waits until it is read. */
async function seal(): Promise<void> {
  const { number } = world.node.part();
  while (world.node.part().number === number) await world.node.nextPart();
  const pools = world.market.pools.map(({ address }) => address);
  await vi.waitFor(async () => {
    const { headers } = await world.api.batch({ pools, basis: 'committed' });
    expect(headers.get('X-Block-Number')).toBe(String(number));
  });
}

test('a node that has the state of the head in the next block is left out after some blocks, and back at its first part', async () => {
  await quotesAfter(world, await world.price(200n));
  await seal();
  world.node.trap({ kind: 'oldState', blocks: 0n });
  // Its quotes are those of the head meanwhile.
  for (let block = 0; block < LAG_BLOCKS; block += 1) {
    await liveIn(await world.price(201n + BigInt(block)));
    await seal();
  }
  for (let block = 0; block < 3; block += 1) {
    await world.price(190n + BigInt(block));
    await vi.waitFor(async () => expect([await kindsOf(), isWarned()]).toEqual([all('committed'), true]));
    await seal();
    expect(await kindsOf()).toEqual(all('committed'));
  }
  world.node.trap();
  await quotesAfter(world, await world.price(195n));
  expect(isWarned()).toBe(false);
});

test('a node with state of blocks below is left out at once', async () => {
  for (let block = 0; block < 3; block += 1) {
    await quotesAfter(world, await world.price(200n + BigInt(block)));
    await seal();
  }
  world.node.trap({ kind: 'oldState', blocks: 2n });
  for (let block = 0; block < 3; block += 1) {
    await world.price(190n + BigInt(block));
    await vi.waitFor(async () => expect(await kindsOf()).toEqual(all('committed')));
    await seal();
    expect(await kindsOf()).toEqual(all('committed'));
  }
  world.node.trap();
  await quotesAfter(world, await world.price(196n));
});

test('blocks in which nothing pays fees leave out no node', async () => {
  for (let block = 0; block < 2 * LAG_BLOCKS; block += 1) {
    await quotesAfter(world, world.node.part());
    await seal();
    expect(isWarned()).toBe(false);
  }
});
