import { expect, test } from 'vitest';
import { RpcFailure, type RpcFailureCode } from '../../chain/rpc-failure.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { HeadContext } from '../../quoting/types.ts';
import { readQuotes } from './read-quotes.ts';

const POOLS = ['0x01', '0x02', '0x03'].map((address) => ({ address }) as unknown as ServedPool);
const AT = {} as HeadContext;

/** Reads pools that do not trade, some of which fail. */
const read = (failing: Readonly<Record<number, RpcFailureCode>>) =>
  readQuotes(
    async (_, pool) => {
      const code = failing[POOLS.indexOf(pool)];
      if (code) throw new RpcFailure(code, 'a test');
      return null;
    },
    AT,
    POOLS,
  );

const addressesOf = async (quotes: ReturnType<typeof read>) => [...(await quotes).keys()];

test('a pool whose own calls fail, or for which there is no call, is absent, and hides no other', async () => {
  const [first, , third] = POOLS.map(({ address }) => address);
  expect(await addressesOf(read({ 1: 'aborted' }))).toEqual([first, third]);
  expect(await addressesOf(read({ 1: 'timeout', 2: 'exhausted' }))).toEqual([first]);
  expect(await addressesOf(read({ 0: 'exhausted', 1: 'exhausted', 2: 'exhausted' }))).toEqual([]);
});

test('where no pool was read, nodes did not give the block', async () => {
  await expect(read({ 0: 'refused', 1: 'refused', 2: 'refused' })).rejects.toThrow(RpcFailure);
});
