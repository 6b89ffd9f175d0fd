import { type Address, type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { BoundedResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { priceCall } from '../calls/probe-calls.ts';
import type { LiveBlock } from './live-blocks.ts';
import { type RunCalls, readLiveCalls } from './live-calls.ts';

const POOLS = [1, 2, 3, 4].map((id) => numberToHex(id, { size: 20 }));
const GROUPS = POOLS.map((address) => [priceCall({ address, layout: 'flat' })]);
const pending = {
  blockNumber: 2n,
  timestamp: 2n,
  overrides: new Map([[POOLS[0] as Address, new Map()]]),
  digest: 'a',
  receivedAt: 0,
};
const HEAD: LiveBlock = {
  block: { hash: '0x01', number: 1n, timestamp: 1n, parents: ['0x00'], pending },
  endpoint: null,
};

const answer = (data: Hex | null): BoundedResult => ({ success: data !== null, data: data ?? '0x', gasUsed: 1 });

/** Reads pools whose prices are these, with overrides and without; undefined: the call is not begun. */
async function read(prices: readonly (readonly [live: Hex | null | undefined, committed?: Hex | null | undefined])[]) {
  const sent: number[] = [];
  const run: RunCalls = async (block: BlockRef, groups) => {
    sent.push(groups.length);
    return groups.map(([call]) => {
      const [live, committed] = prices[POOLS.indexOf(call?.target as Address)] ?? [];
      const data = block.pending?.digest === 'a' ? live : committed;
      return data === undefined ? null : { results: [answer(data)] };
    });
  };
  const found = await readLiveCalls({ heads: { suspend: () => false }, run }, HEAD, GROUPS.slice(0, prices.length));
  return {
    found: found.map((each) => each?.results?.[0]?.data),
    ran: found.map((each) => each?.ran.length),
    sent,
  };
}

test('a pool has a live price where overrides change its price, and is read without them only where it has one', async () => {
  const { found, ran, sent } = await read([['0x01', '0x02'], ['0x01', '0x01'], [null], ['0x01', null]]);
  expect(found).toEqual(['0x01', undefined, undefined, '0x01']);
  expect(ran).toEqual([2, 2, 1, 2]);
  expect(sent).toEqual([4, 3]);
});

test('a pool is not read of which a call was not begun, with overrides or without', async () => {
  const { found, ran } = await read([[undefined], ['0x01', undefined], ['0x01', '0x02']]);
  expect(found).toEqual([undefined, undefined, '0x01']);
  expect(ran).toEqual([undefined, undefined, 2]);
});

test.each([
  ['refused', true],
  ['ignored', true],
  ['timeout', false],
] as const)(
  'where nodes fail as %s, heads hear of it; no pool has a live price only if they read no such block',
  async (code, isKnown) => {
    const failure = new RpcFailure(code, 'no');
    const heard: unknown[] = [];
    const suspend = (...failed: unknown[]) => {
      heard.push(failed);
      return false;
    };
    const found = await readLiveCalls({ heads: { suspend }, run: () => Promise.reject(failure) }, HEAD, GROUPS);
    expect(found).toEqual(POOLS.map(() => (isKnown ? { results: null, ran: [] } : undefined)));
    expect(heard).toEqual([[HEAD, failure]]);
  },
);

test('where nodes refuse a part, pools are not read', async () => {
  const view = { blockNumber: 2n, timestamp: 2n, parentHash: null, feesWei: 1n };
  const part = { view, index: null, multicall3: POOLS[0] as Address };
  const head = { ...HEAD, block: { ...HEAD.block, pending: { ...pending, part } } };
  const run = () => Promise.reject(new RpcFailure('moved', 'no'));
  const found = await readLiveCalls({ heads: { suspend: () => false }, run }, head, GROUPS);
  expect(found).toEqual(POOLS.map(() => undefined));
});

test('an exhausted budget, and what is no failure of nodes, are errors', async () => {
  for (const failure of [new RpcFailure('exhausted', 'no'), new TypeError('no')]) {
    const heads = { suspend: () => expect.fail('no node failed') };
    await expect(readLiveCalls({ heads, run: () => Promise.reject(failure) }, HEAD, GROUPS)).rejects.toBe(failure);
  }
});
