import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { sellAndBuyPrices } from '../../devnet/actions.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { FEE_FORMULAS } from '../../protocol/layouts/packed/formulas.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/packed/pool-state.fixture.ts';
import { startedWorld } from '../harness/open-world.ts';
import { MAX_PRICE_BITS, type PackedTestPool, startPackedChain } from '../packed/packed-chain.ts';
import { bringAbout, ordinary } from '../packed/packed-states.ts';
import {
  createVariants,
  lastMethod,
  levelsOffCurve,
  mineAndSee,
  type PackedApi,
  packedApi,
  type VariantPools,
} from './packed-world.ts';
import { eagerQuotes } from './quote-world.ts';

const SEED = fc.readConfigureGlobal().seed ?? 0;
/** Random states that each pool is seen in, one after another. */
const ROUNDS = 3;
/** Every bin that holds something holds dozens of tokens. */
const AMPLE = { minBits: 66, maxBits: 80, empty: true };
const FORMULAS: readonly string[] = FEE_FORMULAS.map(({ name }) => name);

const packedChain = startedWorld(startPackedChain);
let variants: readonly VariantPools[];
let pools: readonly PackedTestPool[];

beforeAll(async () => {
  variants = await createVariants(packedChain);
  pools = variants.flatMap((of) => of.pools);
});

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
      if (!('quote' in result)) return { rule, method: lastMethod(api, own.address), error: result.error };
      const { bidAdj, askAdj, depth, priceProviderStatus } = result.quote;
      expect(priceProviderStatus).toBe('healthy');
      const prices = await sellAndBuyPrices(packedChain.chain, own.address);
      expect({ sellX64: BigInt(bidAdj), buyX64: BigInt(askAdj) }).toEqual(prices);
      expect(await levelsOffCurve(packedChain, own, priced, depth ?? { bids: [], asks: [] }), rule).toEqual([]);
      return { rule, method: lastMethod(api, own.address), error: null };
    }),
  );
}

describe(`pools of every variant (PROPERTY_SEED=${SEED})`, () => {
  test("have exact prices and every level on the chain's own curve, in any state", async () => {
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
    expect(api.reports.filter(({ method }) => method === 'formula').length).toBeGreaterThan(2 * ROUNDS);
  });

  test('are served by the cheapest method that proves itself, and formulas need no simulation at later blocks', async () => {
    const api = await packedApi(packedChain, pools);
    for (let round = 0; round < ROUNDS; round++) {
      const states = await bringAll(api, ordinary);
      for (const { rule, method, error } of await quoteAll(api, states)) {
        expect(error, rule).toBeNull();
        if (rule === 'growing') expect(method).toBe('simulation');
        else if (rule === 'quotient') expect(method).toBe('fit');
        else expect(method, rule).toBe('formula');
      }
    }
    const verified = pools.filter(({ deployment }) => FORMULAS.includes(deployment.variant.rule));
    const callsAtNext = async () => {
      await mineAndSee(packedChain, api, pools.at(-1) as PackedTestPool);
      const before = api.calls.length;
      await api.results(verified.map(({ address }) => address));
      return api.calls.slice(before).filter((call) => !call.startsWith('eth_getBlock'));
    };
    // Transfers of tokens are tried again at every tenth block, and at no other.
    const { client } = packedChain.chain;
    await client.mine({ blocks: 19 - Number((await client.getBlockNumber()) % 10n) });
    expect(await callsAtNext()).toEqual(Array(3).fill('eth_call:ok'));
    expect(await callsAtNext()).toEqual(Array(2).fill('eth_call:ok'));
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
