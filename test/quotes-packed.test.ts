import fc from 'fast-check';
import { concatHex, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { administer, sellAndBuyPrices } from '../devnet/actions.ts';
import { setQuote } from '../devnet/packed/providers.ts';
import { FEE_FORMULAS } from '../protocol/layouts/packed/candidates.ts';
import { type PricedPool, pricePool } from '../protocol/layouts/packed/ladder.ts';
import { poolStateOf, quoteUpTo } from '../protocol/layouts/packed/pool-state.arbitrary.ts';
import { MAX_PRICE_BITS, type PackedChain, type PackedTestPool, startPackedChain } from './packed/packed-chain.ts';
import { bringAbout, ordinary } from './quotes/packed-states.ts';
import {
  createVariants,
  lastRank,
  levelsOffCurve,
  mineAndSee,
  type PackedApi,
  packedApi,
  type VariantPools,
} from './quotes/packed-world.ts';
import { eagerQuotes } from './quotes/quote-world.ts';

const SEED = fc.readConfigureGlobal().seed ?? 0;
/** Random states that each pool is seen in, one after another. */
const ROUNDS = 3;
/** Every bin that holds something holds dozens of tokens. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };
const FORMULAS: readonly string[] = FEE_FORMULAS.map(({ name }) => name);

let packedChain: PackedChain;
let variants: readonly VariantPools[];
let pools: readonly PackedTestPool[];

beforeAll(async () => {
  packedChain = await startPackedChain();
  variants = await createVariants(packedChain);
  pools = variants.flatMap((of) => of.pools);
});

afterAll(() => packedChain?.stop());

function pool(rule: string, index = 0): PackedTestPool {
  const found = variants.find(({ variant }) => variant.rule === rule)?.pools[index];
  if (!found) throw new Error(`no pool of the rule ${rule}`);
  return found;
}

async function bringAll(
  api: PackedApi,
  stateOf: (pool: PackedTestPool, index: number) => PricedPool,
): Promise<readonly PricedPool[]> {
  const states = pools.map(stateOf);
  for (const [index, priced] of states.entries()) await bringAbout(packedChain, pools[index] as PackedTestPool, priced);
  await mineAndSee(packedChain, api, pools[0] as PackedTestPool);
  return states;
}

/** Quotes all pools, and fails for a price or a level that is not the chain's own. */
async function quoteAll(api: PackedApi, states: readonly PricedPool[]) {
  const results = await api.results(pools.map(({ address }) => address));
  return Promise.all(
    results.map(async (result, index) => {
      const [own, priced] = [pools[index] as PackedTestPool, states[index] as PricedPool];
      const { rule } = own.deployment.variant;
      if (!('quote' in result)) return { rule, rank: lastRank(api, own.address), error: result.error };
      const { bidAdj, askAdj, depth, priceProviderStatus } = result.quote;
      expect(priceProviderStatus).toBe('healthy');
      const prices = await sellAndBuyPrices(packedChain.chain, own.address);
      expect({ sellX64: BigInt(bidAdj), buyX64: BigInt(askAdj) }).toEqual(prices);
      expect(await levelsOffCurve(packedChain, own, priced, depth ?? { bids: [], asks: [] }), rule).toEqual([]);
      return { rule, rank: lastRank(api, own.address), error: null };
    }),
  );
}

describe(`pools of every variant (PROPERTY_SEED=${SEED})`, () => {
  test("have prices to the last digit and every level on the chain's own curve, in any state", async () => {
    const api = await packedApi(packedChain, pools);
    for (let round = 0; round < ROUNDS; round++) {
      const states = await bringAll(api, ({ immutables }, index) => {
        const [drawn] = fc.sample(fc.tuple(poolStateOf(immutables, AMPLE), quoteUpTo(MAX_PRICE_BITS)), {
          numRuns: 1,
          seed: SEED + 100 * round + index,
        });
        if (!drawn) throw new Error('no state was drawn');
        return pricePool(...drawn);
      });
      const answers = await quoteAll(api, states);
      expect(answers.filter(({ error }) => error !== null)).toEqual([]);
    }
    expect(api.reports.filter(({ rank }) => rank === 'formula').length).toBeGreaterThan(2 * ROUNDS);
  });

  test('are served by the cheapest rank that proves itself, and formulas need no simulation at later blocks', async () => {
    const api = await packedApi(packedChain, pools);
    for (let round = 0; round < ROUNDS; round++) {
      const states = await bringAll(api, ordinary);
      for (const { rule, rank, error } of await quoteAll(api, states)) {
        expect(error, rule).toBeNull();
        if (rule === 'growing') expect(rank).toBe('simulation');
        else if (rule === 'quotient') expect(rank).toBe('fit');
        else expect(rank, rule).toBe('formula');
      }
    }
    const verified = pools.filter(({ deployment }) => FORMULAS.includes(deployment.variant.rule));
    await mineAndSee(packedChain, api, pool('growing'));
    const before = api.calls.length;
    await api.results(verified.map(({ address }) => address));
    expect(api.calls.slice(before).filter((call) => !call.startsWith('eth_getBlock'))).toEqual(
      Array(2).fill('eth_call:ok'),
    );
    expect(api.reports.filter(({ dropped }) => dropped)).toEqual([]);
  });
});

test('no more pools are simulated whole at one block than may be: the others have prices and no depth', async () => {
  const growing = variants.find(({ variant }) => variant.rule === 'growing')?.pools ?? [];
  const api = await packedApi(packedChain, growing, { ...eagerQuotes, simulatedPoolsPerRead: 2 });
  for (const own of growing) await bringAbout(packedChain, own, ordinary(own));
  const addresses = growing.map(({ address }) => address);
  const statusOf = (results: Awaited<ReturnType<PackedApi['results']>>) =>
    results.map((result) => ('quote' in result ? 200 : result.error.status)).sort();
  expect(statusOf(await api.results(addresses))).toEqual([200, 200, 503]);
  expect(statusOf(await api.results(addresses, false))).toEqual([200, 200, 200]);
});

describe('a formula counts no longer', () => {
  const codeOf = async ({ address }: Pick<PackedTestPool, 'address'>): Promise<Hex> => {
    const code = await packedChain.chain.client.getCode({ address });
    if (!code) throw new Error(`no code at ${address}`);
    return code;
  };

  /** Verifies the formula of a pool, puts other code somewhere, and quotes the pool again. */
  async function afterChange(own: PackedTestPool, change: (code: Hex) => Promise<void>) {
    const api = await packedApi(packedChain, [own]);
    const priced = ordinary(own);
    await bringAbout(packedChain, own, priced);
    await api.quote(own.address);
    expect(lastRank(api, own.address)).toBe('formula');
    const code = await codeOf(own);
    await change(code);
    await mineAndSee(packedChain, api, own);
    const { depth, bidAdj, askAdj } = await api.quote(own.address);
    const prices = await sellAndBuyPrices(packedChain.chain, own.address);
    expect({ sellX64: BigInt(bidAdj), buyX64: BigInt(askAdj) }).toEqual(prices);
    return { api, code, priced, depth: depth ?? { bids: [], asks: [] } };
  }

  const setCode = (address: PackedTestPool['address'], bytecode: Hex) =>
    packedChain.chain.client.setCode({ address, bytecode });

  test.each([
    ['sumOnEdges', 'productOnEdges', 'formula'],
    ['productOnEdges', 'quotient', 'fit'],
  ] as const)('when a pool of the rule %s gets the code of one of %s', async (rule, other, rank) => {
    const own = pool(rule);
    const otherCode = await codeOf(pool(other));
    const { api, code, priced, depth } = await afterChange(own, () => setCode(own.address, otherCode));
    expect(api.reports.at(-1)).toEqual({ pool: own.address, rank, dropped: 'code' });
    expect(await levelsOffCurve(packedChain, own, priced, depth)).toEqual([]);
    expect(depth.bids.length + depth.asks.length).toBeGreaterThan(6);
    await setCode(own.address, code);
  });

  test('when a pool becomes a proxy, however its target changes', async () => {
    const [own, target] = [pool('sumOnPrice', 1), `0x${'7a'.repeat(20)}` as const];
    const proxy = concatHex(['0x363d3d373d3d3d363d73', target, '0x5af43d82803e903d91602b57fd5bf3']);
    const { api, code, priced, depth } = await afterChange(own, async (ownCode) => {
      await setCode(target, ownCode);
      await setCode(own.address, proxy);
    });
    expect(api.reports.at(-1)).toMatchObject({ rank: 'fit', dropped: 'code' });
    expect(await levelsOffCurve(packedChain, own, priced, depth)).toEqual([]);
    await setCode(target, await codeOf(pool('productOnPrice', 1)));
    await mineAndSee(packedChain, api, own);
    const later = (await api.quote(own.address)).depth;
    expect(lastRank(api, own.address)).toBe('fit');
    expect(later).not.toEqual(depth);
    expect(await levelsOffCurve(packedChain, own, priced, later ?? depth)).toEqual([]);
    await setCode(own.address, code);
  });

  test('when the code of its provider changes', async () => {
    const own = pool('older', 2);
    const changed = concatHex([await codeOf({ address: own.provider }), '0x00']);
    const { api } = await afterChange(own, () => setCode(own.provider, changed));
    expect(api.reports.at(-1)).toMatchObject({ rank: 'formula', dropped: 'code' });
  });
});

test('statuses are those of the flat layout', async () => {
  const [first] = pools as [PackedTestPool];
  const api = await packedApi(packedChain, pools);
  const { chain } = packedChain;
  const good = ordinary(first).quote;
  const statusWith = async (quote: typeof good) => {
    await setQuote(chain, first.provider, quote);
    await mineAndSee(packedChain, api, first);
    return (await api.quote(first.address)).priceProviderStatus;
  };
  await bringAbout(packedChain, first, ordinary(first));
  expect(await statusWith(good)).toBe('healthy');
  expect(await statusWith({ ...good, referenceX64: 0n })).toBe('feed_down');
  expect(await statusWith({ ...good, bidX64: 0n })).toBe('pool_refused');
  expect(await statusWith({ ...good, bidX64: good.askX64 + 1n })).toBe('pool_refused');
  expect(await statusWith({ ...good, referenceX64: good.askX64 + 1n })).toBe('pool_refused');
  expect(await statusWith({ bidX64: good.askX64, askX64: good.askX64, referenceX64: good.askX64 })).toBe('healthy');
  await administer(chain, first.deployment, chain.roles.curator, 'pausePool', [first.address]);
  await mineAndSee(packedChain, api, first);
  expect((await api.quote(first.address)).priceProviderStatus).toBe('pool_paused');
});
