import { expect, test } from 'vitest';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt } from '../../quoting/snapshot.fixture.ts';
import { LatestQuotes } from './latest-quotes.ts';

const BLOCK = { number: 1n, hash: '0x01', timestamp: 1n } as const;
const [ONE, OTHER] = [flatPool(1), flatPool(2)];

test('a pool is held while it is requested: what sources withdraw later of the same block would remain', () => {
  const quotes = new LatestQuotes();
  const take = (requested: readonly (typeof ONE)[], read: readonly (typeof ONE)[], price: bigint) =>
    quotes.take({
      block: BLOCK,
      branch: ChainTail.EMPTY,
      requested: new Set(requested.map(({ address }) => address)),
      outcomes: new Map(read.map((pool) => [pool.address, pricedAt(price, pool, BLOCK)])),
    });
  const prices = () =>
    [ONE, OTHER].map(({ address }) => quotes.get(address)?.outcome).map((of) => of && 'bidX64' in of && of.bidX64);
  take([ONE, OTHER], [ONE, OTHER], 5n);
  expect(prices()).toEqual([5n, 5n]);
  // One that is requested, but was not read, remains.
  take([ONE, OTHER], [ONE], 6n);
  expect(prices()).toEqual([6n, 5n]);
  take([ONE], [ONE], 7n);
  expect(prices()).toEqual([7n, undefined]);
  const { version = 0 } = quotes.get(ONE.address) ?? {};
  take([ONE, OTHER], [OTHER], 5n);
  expect(prices()).toEqual([7n, 5n]);
  expect(quotes.get(OTHER.address)?.version).toBeGreaterThan(version);
});
