import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { expect, test, vi } from 'vitest';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit } from '../../devnet/actions.ts';
import { MNEMONIC } from '../../devnet/demo/quote-update.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { Part } from '../../devnet/parts/part.ts';
import { startedWorld } from '../harness/open-world.ts';
import type { QuoteApi } from '../quotes/quote-api.ts';
import type { LiveQuote } from './live-world.ts';
import { quotesOf } from './part-quotes.ts';
import { levelsOf } from './part-traps.ts';
import { startPartWorld } from './part-world.ts';

/*
 * Parts in which something happens that no quote depends on. Makers write storage without logs, so that only a digest
 * of what pools answer shows this.
 */

const PARTS_PER_BLOCK = 60;
const ONE = 10n ** 18n;
const CURATOR = 1;
const TRADER = 4;

const world = startedWorld(async () => {
  const opened = await startPartWorld({
    flatPools: 4,
    packedPools: 4,
    node: { form: 'payload', partsPerBlock: PARTS_PER_BLOCK },
  });
  return { ...opened, followed: openSlow(opened.open) };
});

/** An API whose clock is slow: on a busy machine it polls no part. */
const openSlow = (open: Open): QuoteApi => open({ now: () => performance.now() / 10 });

type Open = Awaited<ReturnType<typeof startPartWorld>>['open'];

/** The pool of a maker whose prices nobody asks for, and the other ones. */
const other = () => world.market.pools.at(-1) as LivePool;
const asked = () => world.market.pools.slice(0, -1);

const quotesBy = (api: QuoteApi): Promise<readonly LiveQuote[]> =>
  quotesOf(world, { pools: asked().map(({ address }) => address) }, api);

const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

/** Shows a part. @returns its quotes, and how many calls they took */
async function quotesOfNext(show: () => Promise<Part>) {
  // Parts are followed while somebody asks.
  await quotesBy(world.followed);
  const before = callsAtParts();
  const { number, index } = await show();
  const quotes = await vi.waitFor(async () => {
    const found = await quotesBy(world.followed);
    const basis = { kind: 'live', targetBlockNumber: Number(number), source: { part: index } };
    for (const quote of found) expect(quote).toMatchObject({ basis });
    return found;
  });
  return { quotes, calls: callsAtParts() - before };
}

/** Puts a transaction of an account of the node into the next part. */
async function send(accountIndex: number, to: Address, data: Hex): Promise<void> {
  const { chain } = world.market;
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: accountIndex });
  const nonce = await chain.client.getTransactionCount({ address: account.address, blockTag: 'pending' });
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n };
  const call = { type: 'eip1559', chainId: chain.chainId, nonce, gas: 5_000_000n, ...fees, to, data } as const;
  world.node.submit(await account.signTransaction(call));
}

const transfer = (to: Address) =>
  send(TRADER, world.market.token0, encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, ONE] }));

const swap = ({ address, venue }: LivePool) => {
  const args = [address, true, ONE, noPriceLimit(true)] as const;
  return send(TRADER, venue, encodeFunctionData({ abi: routerAbi, functionName: 'swap', args }));
};

const setVelocity = (pool: LivePool) => {
  const abi = parseAbi(['function setMaxChangePerBlock(address pool, uint64 maxChangePerBlockE18)']);
  const served = world.served.find(({ address }) => address === pool.address);
  const guard = served?.extensions.find(({ kind }) => kind === 'priceVelocityGuard');
  if (!guard) throw new Error('the pool has no velocity guard');
  return send(CURATOR, guard.address, encodeFunctionData({ abi, args: [pool.address, 10n ** 15n] }));
};

const guardedBy = (guard: LivePool['guard']): LivePool => asked().find((pool) => pool.guard === guard) as LivePool;

const isPackedGuarded = ({ layout, guard }: LivePool) => layout === 'packed' && guard !== 'none';

const nextPart = () => world.node.nextPart();

/** Things that happen to no pool whose quotes are asked for. */
const unrelated: readonly (readonly [string, (count: number) => Promise<Part>])[] = [
  ['the prices of another pool', (count) => world.price(190n + BigInt(count), [other()])],
  ['a transfer', () => transfer(world.market.chain.roles.untrusted).then(nextPart)],
  ['a swap in another pool', () => swap(other()).then(nextPart)],
];

/** Shows a part with prices of all pools, and one that changes none. What follows is of the same block. */
async function begin(): Promise<void> {
  while (world.node.part().index > PARTS_PER_BLOCK / 2) await nextPart();
  for (let parts = 0; parts < 5; parts += 1) await quotesOfNext(() => world.price(200n + BigInt(parts)));
  await quotesOfNext(() => world.price(190n, [other()]));
}

test.each(unrelated)('a part with %s costs one call, and has the quotes of the part before', async (_, happen) => {
  await begin();
  const { quotes: before } = await quotesOfNext(() => world.price(191n, [other()]));
  expect(before.filter(({ priceProviderStatus }) => priceProviderStatus === 'healthy').length).toBeGreaterThan(2);
  for (let count = 0; count < 5; count += 1) {
    const { quotes, calls } = await quotesOfNext(() => happen(count));
    expect(calls).toBe(1);
    expect(quotes.map(levelsOf)).toEqual(before.map(levelsOf));
  }
});

/**
 * What happens to a pool whose quotes are asked for, and the calls that it takes: the one that shows the part, one for
 * prices and guards, and one for tokens where balances change.
 */
const changes: readonly (readonly [string, number, () => Promise<Part>])[] = [
  ['a price', 2, () => world.price(210n, [guardedBy('none')])],
  ['a price of a pool with a velocity guard', 2, () => world.price(201n, [guardedBy('velocity')])],
  ['a price of a pool with a stop loss', 2, () => world.price(201n, [guardedBy('stopLoss')])],
  ['a price of a packed pool with guards', 2, () => world.price(201n, asked().filter(isPackedGuarded).slice(0, 1))],
  ['a swap', 3, () => swap(guardedBy('none')).then(nextPart)],
  ['tokens that are sent to a pool', 3, () => transfer(guardedBy('none').address).then(nextPart)],
  ['a setting of a guard', 2, () => setVelocity(guardedBy('velocity')).then(nextPart)],
];

test.each(changes)(
  'a part with %s takes %i calls, with quotes as another process reads them',
  async (_, most, happen) => {
    await begin();
    const { quotes, calls } = await quotesOfNext(happen);
    expect(calls).toBe(most);
    const fresh = openSlow(world.open);
    const right = await vi.waitFor(async () => {
      const found = await quotesBy(fresh);
      for (const { basis } of found) expect(basis?.kind).toBe('live');
      return found;
    });
    await fresh.stop();
    expect(quotes.map(levelsOf)).toEqual(right.map(levelsOf));
    // The other process still ends its calls.
    await vi.waitFor(async () => expect((await quotesOfNext(() => world.price(192n, [other()]))).calls).toBe(1));
  },
);
