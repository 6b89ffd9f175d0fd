import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MULTICALL3 } from '../config/chains-schema.ts';
import { loadArtifact } from '../devnet/artifacts.ts';
import { deployContract } from '../devnet/deploy.ts';
import { packedSimulation } from '../devnet/packed/actions.ts';
import { packedStopLossExtension } from '../devnet/packed/deploy.ts';
import { type MarketPool, ONE, PackedMarket, quoteAround } from '../devnet/packed/market.fixture.ts';
import { setQuote } from '../devnet/packed/providers.ts';
import { packedVariant } from '../devnet/packed/variants.ts';
import { type ExtensionSpec, evenBins, velocityExtension } from '../devnet/pools.ts';
import { decodeSimulation } from '../protocol/layouts/packed/simulation.ts';
import { amountsOf, type Level, tradingLevels } from './quotes/chain-curve.ts';
import { lastRank, mineAndSee, type PackedApi, packedApi } from './quotes/packed-world.ts';
import { eagerQuotes } from './quotes/quote-world.ts';
import { withProxies } from './quotes/with-proxies.ts';

/** Of the unknown extension. */
const HOG_GAS = 1_500_000n;
/** That a side trades through: from the cursor in bin 1 down to -4, and up to 4. */
const BINS = { bids: 6, asks: 4 };

const isCreation = (call: unknown): boolean => typeof call === 'object' && call !== null && !('to' in call);
const lowercase = ({ pool }: MarketPool) => pool.toLowerCase() as Address;

/** Of depth: one for each side without its guards, the state of the stop loss, and the swaps that confirm the ends. */
const CALLS_SIMULATED = 4;

describe.each([
  ['sumOnPrice', 'formula'],
  ['quotient', 'fit'],
  ['growing', 'simulation'],
] as const)('guarded pools that charge by the rule %s', (rule, rank) => {
  let market: PackedMarket;

  beforeAll(async () => {
    market = await PackedMarket.open(packedVariant(rule));
    const { client } = market.ground.chain;
    await client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
  });

  afterAll(() => market?.ground.anvil.stop());

  test('trade as far as a velocity guard lets them', async () => {
    const [calm, jumpy] = [await pool(velocity(10n ** 18n)), await pool(velocity(10n ** 15n))];
    const { api, quotes } = await afterMove([calm, jumpy], 204n);
    await expectWhole(api, calm, 204n, quotes[0]);
    expect(quotes[1]).toMatchObject({ priceProviderStatus: 'pool_refused', depth: { bids: [], asks: [] } });
    expect(await simulated(jumpy, 204n, true, 1n)).toBe('velocity');
  });

  test('trade up to the end that a stop loss sets', async () => {
    const [roomy, tight] = [await pool(stopLoss(100_000)), await pool(stopLoss(10_000))];
    const { api, quotes } = await afterMove([roomy, tight], 204n);
    await expectWhole(api, roomy, 204n, quotes[0]);
    const { priceProviderStatus, depth } = quotes[1] ?? {};
    expect(priceProviderStatus).toBe('healthy');
    const [bids, asks] = [tradingLevels(depth?.bids ?? []), tradingLevels(depth?.asks ?? [])];
    await expectFills(tight, 204n, true, bids);
    await expectFills(tight, 204n, false, asks);
    expect(asks).toHaveLength(BINS.asks);
    expect(bids.length).toBeLessThan(BINS.bids);
    expect(lastRank(api, lowercase(tight))).toBe(rank);
    const end = bids.at(-1);
    const beyond = end ? amountsOf(end).input + ONE : 1n;
    expect(await simulated(tight, 204n, true, beyond)).toBe('refused');
    if (rank === 'simulation') expect(await callsAtNewBlock(api, lowercase(tight))).toBe(CALLS_SIMULATED);
  });

  test('are probed past an extension that nobody knows', async () => {
    const hog = await deployContract(market.ground.chain, 'GasHog', [HOG_GAS]);
    const own = await pool({ address: hog, phases: ['beforeSwap'], initData: '0x' });
    const { api, quotes } = await afterMove([own], 201n);
    await expectWhole(api, own, 201n, quotes[0]);
  });

  test('keep their rank when guards refuse after a move of the price, also more of them than may be simulated', async () => {
    const refusing = [];
    for (let index = 0; index < 3; index++)
      refusing.push(await pool(velocity(10n ** 15n)), await pool(stopLoss(10_000)));
    const quotes = { ...eagerQuotes, simulatedPoolsPerRead: rank === 'simulation' ? 6 : 1 };
    const { api, quotes: moved } = await afterMove(refusing, 206n, undefined, quotes);
    expect(moved.map((quote) => quote?.priceProviderStatus)).toEqual(
      refusing.map((_, index) => (index % 2 === 0 ? 'pool_refused' : 'healthy')),
    );
    expect(refusing.map((own) => lastRank(api, lowercase(own)))).toEqual(refusing.map(() => rank));
  });

  test.runIf(rank === 'fit').each(['refuse', 'ignore'] as const)(
    'are fitted again as soon as guards let them where the node cannot leave guards out: %s',
    async (how) => {
      const jumpy = await pool(velocity(10n ** 15n));
      await withProxies(market.ground.chain.rpcUrl, async (node) => {
        node.misbehave({ kind: 'noOverrides', how }, ({ params }) => isCreation(params[0]));
        const { api, quotes } = await afterMove([jumpy], 204n, node.url);
        expect(quotes[0]?.priceProviderStatus).toBe('pool_refused');
        expect(lastRank(api, lowercase(jumpy))).toBe('simulation');
        await setQuote(market.ground.chain, jumpy.provider, quoteAround(200n));
        await mineAndSee(market.ground, api, { address: lowercase(jumpy) });
        const [result] = await api.results([lowercase(jumpy)]);
        await expectWhole(api, jumpy, 200n, result && 'quote' in result ? result.quote : undefined);
      });
    },
  );

  test.runIf(rank === 'simulation').each(['refuse', 'ignore'] as const)(
    'are asked on the way where the node cannot leave them out: %s',
    async (how) => {
      const tight = await pool(stopLoss(10_000));
      await withProxies(market.ground.chain.rpcUrl, async (node) => {
        node.misbehave({ kind: 'noOverrides', how }, ({ params }) => isCreation(params[0]));
        const { api, quotes } = await afterMove([tight], 204n, node.url);
        const [bids, asks] = [tradingLevels(quotes[0]?.depth?.bids ?? []), tradingLevels(quotes[0]?.depth?.asks ?? [])];
        await expectFills(tight, 204n, true, bids);
        await expectFills(tight, 204n, false, asks);
        expect(bids.length).toBeLessThan(BINS.bids);
        expect(asks).toHaveLength(BINS.asks);
        expect(lastRank(api, lowercase(tight))).toBe('simulation');
      });
    },
  );

  const velocity = (maxChangePerBlockE18: bigint) => velocityExtension(market.ground.deployment, maxChangePerBlockE18);

  const stopLoss = (drawdownE6: number) =>
    packedStopLossExtension(market.ground.deployment, { drawdownE6, decayPerSecondE18: 0n, timelockSecs: 60 });

  /** A pool of nine bins, of which the first above the cursor's is bought half empty. */
  async function pool(guard: ExtensionSpec): Promise<MarketPool> {
    const bins = evenBins(-4, 4, 10_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 2 ? 300 : 800 }));
    const own = await market.fundedPool(() => [guard], undefined, { bins, adminNotionalFeeE8: 5_000 });
    await market.buy(own, 150n * ONE);
    return own;
  }

  /** Quotes pools at price 2, at which their guards let them trade, and then at another. */
  async function afterMove(
    pools: readonly MarketPool[],
    hundredths: bigint,
    node = market.ground.chain.rpcUrl,
    limits = eagerQuotes,
  ) {
    const { chain, deployment } = market.ground;
    const addresses = pools.map(lowercase);
    const tested = addresses.map((address) => ({ address, deployment }));
    const [first] = tested;
    if (!first) throw new Error('no pools');
    const api = await packedApi({ chain }, tested, limits, node);
    await api.results(addresses);
    for (const { provider } of pools) await setQuote(chain, provider, quoteAround(hundredths));
    await mineAndSee({ chain }, api, first);
    const results = await api.results(addresses);
    return { api, quotes: results.map((result) => ('quote' in result ? result.quote : undefined)) };
  }

  async function callsAtNewBlock(api: PackedApi, address: Address): Promise<number> {
    await mineAndSee(market.ground, api, { address });
    const before = api.calls.length;
    await api.results([address]);
    return api.calls.slice(before).filter((call) => call.startsWith('eth_call')).length;
  }

  type AnyQuote = Awaited<ReturnType<typeof afterMove>>['quotes'][number];

  async function expectWhole(api: PackedApi, own: MarketPool, hundredths: bigint, quote: AnyQuote) {
    expect(quote?.priceProviderStatus).toBe('healthy');
    expect(lastRank(api, lowercase(own))).toBe(rank);
    const [bids, asks] = [tradingLevels(quote?.depth?.bids ?? []), tradingLevels(quote?.depth?.asks ?? [])];
    expect({ bids: bids.length, asks: asks.length }).toEqual(BINS);
    await expectFills(own, hundredths, true, bids);
    await expectFills(own, hundredths, false, asks);
  }

  /** One unit, and the middle and the end of every level, for which the chain gives what the level says. */
  async function expectFills(own: MarketPool, hundredths: bigint, zeroForOne: boolean, levels: readonly Level[]) {
    const ends = levels.map(amountsOf);
    const middles = ends.map(({ input }, index) => (input + (ends[index - 1]?.input ?? 0n)) / 2n);
    const given = (input: bigint) => simulated(own, hundredths, zeroForOne, input);
    for (const input of [1n, ...middles]) expect(await given(input), `${input}`).toBeTypeOf('bigint');
    for (const { input, output } of ends) expect(await given(input)).toBeGreaterThanOrEqual(output);
  }

  /** What the chain gives for an exact input, or why it does not. */
  async function simulated(own: MarketPool, hundredths: bigint, zeroForOne: boolean, input: bigint) {
    const { chain, deployment } = market.ground;
    const order = { pool: own.pool, zeroForOne, amountSpecified: input, ...quoteAround(hundredths) };
    const data = await packedSimulation(chain, deployment, order);
    const swap = decodeSimulation({ success: false, data });
    if (swap.outcome !== 'fills') return swap.outcome;
    return -(zeroForOne ? swap.amount1Delta : swap.amount0Delta);
  }
});
