import { type Address, numberToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { addLiquidity } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { deployManualProvider } from '../../devnet/providers.ts';
import { gasHogPool, maliciousPool, poolBehind, turnIntoGasHog } from './hostile-pools.ts';
import { apiOf, type QuoteApi, quoteApi } from './quote-api.ts';
import { chainConfig, longTimeouts, makeCutPool, makePool, priceX64, quoteWorld } from './quote-world.ts';
import { fixedDirectory, servedPool } from './served-pool.ts';

const CLOSED = { bidAdj: '0', askAdj: ((1n << 128n) - 1n).toString() };
/** More than the gas of one call can pay for, at three million each. */
const HOGS = 24;

const world = quoteWorld(async (on) => {
  const pair = await on.pair(18, 18);
  const extensions = [stopLossExtension(on.deployment)];
  const spec = { pair, price: 1.5, bins: evenBins(-3, 3, 700) };
  const honest = [
    await makePool(on, spec),
    await makePool(on, { ...spec, extensions, notionalFeeE8: 3_000 }),
    await makeCutPool(on, pair, 12, 4),
  ];
  const hogs: Address[] = [];
  for (let count = 0; count < HOGS; count++) hogs.push(await gasHogPool(on, pair));
  return { tokens: pair, honest: honest.map(({ address }) => address), hogs };
});

/** No block ends what is known. */
const apiFor = (pools: readonly Address[]) => apiOf(world, pools, { blockTimeMs: 60_000, quotes: longTimeouts });

/** The quotes of pools when a batch holds these pools before them, by pool, without the time of the reading. */
async function quotesAmong(pools: readonly Address[], others: readonly Address[], depth = true) {
  const all = [...others, ...pools];
  const api = await apiFor(all);
  const results = await api.results(all, depth);
  const quotes = new Map(
    results.map((result) => {
      if (!('quote' in result)) throw new Error(JSON.stringify(result));
      const { serverTs, ...quote } = result.quote;
      expect(serverTs).toBeGreaterThan(0);
      return [result.poolAddress as Address, quote];
    }),
  );
  return { api, quotes, of: pools.map((pool) => quotes.get(pool)) };
}

const ethCalls = (api: QuoteApi): number => api.calls.filter((call) => call.startsWith('eth_call')).length;

describe('providers that burn all the gas', () => {
  test('are down themselves, and leave every digit of the others as it is', async () => {
    const alone = await quotesAmong(world.honest, []);
    expect(alone.of.map((quote) => quote?.priceProviderStatus)).toEqual(['healthy', 'healthy', 'healthy']);
    const among = await quotesAmong(world.honest, world.hogs);
    expect(among.of).toEqual(alone.of);
    for (const hog of world.hogs) {
      expect(among.quotes.get(hog)).toMatchObject({
        ...CLOSED,
        priceProviderStatus: 'feed_down',
        totalToken0Available: '0',
        depth: { bids: [], asks: [] },
      });
    }
  });

  test('cost a bounded number of calls, once per block however many ask', async () => {
    const { api } = await quotesAmong(world.honest.slice(0, 1), world.hogs, false);
    const calls = ethCalls(api);
    // One call each for what honest pools take; then, of storage and quotes and of prices, what was left undone,
    // a dozen pools to a call.
    expect(calls).toBeLessThanOrEqual(2 + 2 * Math.ceil(HOGS / 9));
    expect(api.calls.every((call) => call.endsWith(':ok'))).toBe(true);
    await Promise.all(world.hogs.map((hog) => api.quote(hog, false)));
    expect(ethCalls(api)).toBe(calls);
  });
});

describe('a provider that does its worst and then quotes', () => {
  test('is healthy, and changes neither the prices nor the balances of the pools after it', async () => {
    const [victim] = world.honest as [Address];
    const alone = await quotesAmong(world.honest, []);
    const malicious = [
      await maliciousPool(world, world.tokens, { victim, gift: 10n ** 18n, gasLeft: 30_000n }),
      ...(await Promise.all(
        [60_000n, 100_000n, 200_000n].map((gasLeft) =>
          maliciousPool(world, world.tokens, { victim, gift: 0n, gasLeft }),
        ),
      )),
    ];
    const among = await quotesAmong(world.honest, malicious);
    expect(among.of).toEqual(alone.of);
    for (const pool of malicious) {
      expect(among.quotes.get(pool)?.priceProviderStatus).toBe('healthy');
      expect(BigInt(among.quotes.get(pool)?.bidAdj ?? 0) >> 64n).toBe(1n);
    }
  });
});

test('a token that burns all the gas has a balance of null, and its pools and the others are quoted as ever', async () => {
  const mixed = { ...world.tokens, token1: (await world.pair(18, 18)).token1 };
  const provider = await deployManualProvider(world.chain, mixed, { bidX64: priceX64(2), askX64: priceX64(3) });
  const pool = await poolBehind(world, mixed, provider);
  const alone = await quotesAmong([pool, ...world.honest], []);
  await turnIntoGasHog(world, mixed.token1);
  const after = await quotesAmong(world.honest, [pool]);
  expect(after.of).toEqual(alone.of.slice(1));
  expect(after.quotes.get(pool)).toEqual({ ...alone.quotes.get(pool), totalToken1Available: null });
  expect(after.quotes.get(pool)).toMatchObject({ priceProviderStatus: 'healthy', totalToken0Available: '0' });
});

test('a pool that is not there at the block read has failed, and its neighbours have not', async () => {
  const [pool] = world.honest as [Address];
  const served = await servedPool(world.chain, world.deployment, pool);
  const missing: Address = `0x${'d1'.repeat(20)}`;
  const chain = chainConfig(31337, [world.anvil.url], { blockTimeMs: 60_000 });
  const directory = fixedDirectory([served, { ...served, address: missing }]);
  const api = quoteApi({ chain, directory, quotes: longTimeouts });
  const [failed, quoted] = await api.results([missing, pool]);
  expect(failed).toEqual({ poolAddress: missing, error: { status: 500, error: 'Internal server error' } });
  expect(quoted).toMatchObject({ quote: { priceProviderStatus: 'healthy' } });
  const single = await api.request(`/public/v1/evm/31337/${missing}/bid_ask`);
  expect([single.status, single.text]).toEqual([500, '{"error":"Internal server error"}']);
});

test('a pool whose storage makes no sense has failed, and its neighbours have not', async () => {
  const provider = await deployManualProvider(world.chain, world.tokens, { bidX64: 5n, askX64: 6n });
  const pool = await poolBehind(world, world.tokens, provider);
  const { client } = world.chain;
  const word = BigInt((await client.getStorageAt({ address: pool, slot: '0x0' })) ?? '0x0');
  // A current bin (the second byte) that the pool does not have.
  const value = numberToHex((word & ~0xff00n) | (100n << 8n), { size: 32 });
  await client.setStorageAt({ address: pool, index: 0, value });
  const [quoted] = world.honest as [Address];
  const results = await (await apiFor([pool, quoted])).results([pool, quoted]);
  expect(results).toMatchObject([{ error: { status: 500 } }, { quote: { priceProviderStatus: 'healthy' } }]);
});

test('a guarded pool that asks for more than a swap can carry leaves its neighbours as they are', async () => {
  // At a price of 2^-54 a bid for the tokens below costs more token0 than 128 bits hold.
  const provider = await deployManualProvider(world.chain, world.tokens, { bidX64: 1_000n, askX64: 1_010n });
  const pool = await poolBehind(world, world.tokens, provider, [stopLossExtension(world.deployment)]);
  const { chain, deployment } = world;
  await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins: [{ bin: -1, shares: 2n ** 80n }] });
  const alone = await quotesAmong(world.honest, []);
  const among = await quotesAmong(world.honest, [pool]);
  expect(among.of).toEqual(alone.of);
  expect(among.quotes.get(pool)?.priceProviderStatus).toBe('healthy');
});

describe('extensions that burn all the gas', () => {
  /** Pools that each have one extension which needs this much gas; zero: all there is. */
  async function guardedBy(needed: bigint, phases: readonly ('beforeSwap' | 'afterSwap')[]): Promise<Address[]> {
    const address = await deployContract(world.chain, 'GasHog', [needed]);
    const spec = { pair: world.tokens, price: 2, bins: evenBins(-8, 8, 1_000) };
    const pools: Address[] = [];
    for (const phase of phases) {
      pools.push((await makePool(world, { ...spec, extensions: [{ address, phases: [phase] }] })).address);
    }
    return pools;
  }

  test('refuse both sides of their own pools, and no side of another', async () => {
    const refusing = await guardedBy(0n, ['beforeSwap', 'afterSwap', 'beforeSwap']);
    const alone = await quotesAmong(world.honest, []);
    const among = await quotesAmong(world.honest, refusing);
    expect(among.of).toEqual(alone.of);
    for (const pool of refusing) {
      expect(among.quotes.get(pool)).toMatchObject({ ...CLOSED, priceProviderStatus: 'pool_refused' });
    }
    await world.chain.client.mine({ blocks: 1 });
    const calls = ethCalls(among.api);
    const [pool] = refusing as [Address];
    // A new block: state and prices are read again, and guards that burned the gas are skipped.
    const requested = () => among.api.quote(pool).then(() => ethCalls(among.api) - calls);
    await expect.poll(requested).toBe(2);
    expect(await among.api.quote(pool)).toMatchObject({ ...CLOSED, priceProviderStatus: 'pool_refused' });
    expect(ethCalls(among.api) - calls).toBe(2);
    const without = await quotesAmong([], refusing, false);
    for (const pool of refusing) expect(without.quotes.get(pool)?.priceProviderStatus).toBe('pool_refused');
  });

  test('do not starve an honest one that needs much', async () => {
    const phases = (count: number) => Array.from({ length: count }, () => 'beforeSwap' as const);
    const hungry = await guardedBy(1_500_000n, phases(9));
    const refusing = await guardedBy(0n, phases(2));
    const alone = await quotesAmong(hungry.slice(0, 1), []);
    const { of } = await quotesAmong(hungry, refusing);
    for (const quote of of) expect({ ...quote, poolAddress: '' }).toEqual({ ...alone.of[0], poolAddress: '' });
    expect(of[0]?.priceProviderStatus).toBe('healthy');
  });
});
