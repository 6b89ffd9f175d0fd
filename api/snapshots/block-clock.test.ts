import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { BlockClock } from './block-clock.ts';

type Head = { readonly block: BlockRef };

const head = (number: number, fork = 'a'): Head => ({
  block: { number: BigInt(number), hash: `0x${fork}${number}` as Hex, timestamp: BigInt(number) },
});

/** A chain told by nodes that say what `heads` says; the first one is asked by default. */
function chainOf(blockTimeMs: number) {
  const chain = { ms: 0, heads: [head(1)], looks: 0, wideLooks: 0, down: false };
  const tell = () => {
    if (chain.down) throw new Error('no node answers');
  };
  const source = {
    head: async () => {
      chain.looks += 1;
      tell();
      const [first = head(0)] = chain.heads;
      return first;
    },
    heads: async () => {
      chain.wideLooks += 1;
      tell();
      return [...chain.heads];
    },
  };
  const clock = new BlockClock<Head>(source, { blockTimeMs, minRefreshMs: 500, now: () => chain.ms });
  const numberAt = async (ms: number) => {
    chain.ms = ms;
    return Number((await clock.head()).block.number);
  };
  return { chain, clock, numberAt };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('requests that ask at once share one look', async () => {
  const { chain, clock } = chainOf(1_000);
  await Promise.all(Array.from({ length: 50 }, () => clock.head()));
  expect(chain.looks).toBe(1);
});

test('looks depend on time, not on the number of requests', async () => {
  const { chain, clock } = chainOf(200);
  for (chain.ms = 0; chain.ms < 10_000; chain.ms += 5) {
    await clock.head();
    await settle();
  }
  expect(chain.looks).toBeLessThanOrEqual(20);
  expect(chain.looks).toBeGreaterThanOrEqual(18);
});

test('a slow chain is asked about four times a block, and a new block is seen within a second', async () => {
  const { chain, clock } = chainOf(12_000);
  const delays: number[] = [];
  for (chain.ms = 0; chain.ms < 120_000; chain.ms += 20) {
    const produced = Math.floor(chain.ms / 12_000) + 1;
    chain.heads = [head(produced)];
    const shown = Number((await clock.head()).block.number);
    await settle();
    if (shown < produced) delays.push(chain.ms - (produced - 1) * 12_000);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
  expect(chain.looks).toBeLessThanOrEqual(45);
});

test('a head is not served beyond its time while the chain cannot be seen', async () => {
  const { chain, clock, numberAt } = chainOf(1_000);
  expect(await numberAt(0)).toBe(1);
  chain.down = true;
  expect(await numberAt(999)).toBe(1);
  await settle();
  chain.ms = 1_001;
  expect(clock.fresh()).toBeUndefined();
  await expect(clock.head()).rejects.toThrow('no node answers');
  chain.down = false;
  chain.heads = [head(2)];
  expect(await numberAt(1_100)).toBe(2);
});

test('a node that lags never takes the head back', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  expect(await numberAt(0)).toBe(10);
  chain.heads = [head(7)];
  for (let ms = 1_000; ms < 9_000; ms += 500) expect(await numberAt(ms)).toBe(10);
});

test('another hash at a height that was seen is a reorg: the head follows it, even down', async () => {
  const { chain, numberAt } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    chain.heads = [head(number)];
    await numberAt(number * 2_000);
  }
  chain.heads = [head(9, 'b')];
  expect(await numberAt(30_000)).toBe(9);
  chain.heads = [head(10, 'b')];
  expect(await numberAt(32_000)).toBe(10);
});

test('another hash at the same height is followed too', async () => {
  const { chain, clock, numberAt } = chainOf(1_000);
  await numberAt(0);
  chain.heads = [head(1, 'b')];
  await numberAt(2_000);
  expect(clock.current?.block.hash).toBe('0xb1');
});

test('a chain that stays behind for long was rolled back', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  await numberAt(0);
  chain.heads = [head(6)];
  expect(await numberAt(2_000)).toBe(10);
  expect(await numberAt(11_999)).toBe(10);
  expect(await numberAt(13_000)).toBe(6);
});

test('when the first node is stuck and a block is overdue, the highest of all nodes counts', async () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(5), head(5), head(5)];
  expect(await numberAt(0)).toBe(5);
  chain.heads = [head(5), head(8), head(7)];
  expect(await numberAt(1_000)).toBe(5);
  expect(await numberAt(2_600)).toBe(8);
});

test('a rejected head gives way to the last one that was read at', async () => {
  const { chain, clock, numberAt } = chainOf(1_000);
  await numberAt(0);
  clock.confirm(await clock.head());
  chain.heads = [head(1_000_000, 'f')];
  await numberAt(2_000);
  clock.reject(await clock.head());
  expect(clock.current?.block.number).toBe(1n);
  expect(clock.fresh()).toBeUndefined();
  chain.heads = [head(2)];
  expect(await numberAt(2_001)).toBe(2);
});
