import { pino } from 'pino';
import type { Address } from 'viem';
import { describe, expect, test } from 'vitest';
import { deployContract } from '../../devnet/deploy.ts';
import { takenBack } from '../../devnet/dev-chain.ts';
import { packedSimulation } from '../../devnet/packed/actions.ts';
import { packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { type MarketPool, ONE, quoteAround } from '../../devnet/packed/market.fixture.ts';
import { setQuote } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type ExtensionSpec, evenBins, velocityExtension } from '../../devnet/pools.ts';
import { SMALLEST_SWAP } from '../../protocol/curve.ts';
import { simulatedAmounts, swapOutcome } from '../../protocol/pool-errors.ts';
import { amountsOf, type Level, tradingLevels } from './chain-curve.ts';
import { lastMethod, mineAndSee, type PackedApi, packedApi, startedPackedMarket } from './packed-world.ts';
import { eagerQuotes } from './quote-world.ts';
import { withProxies } from './with-proxies.ts';

/** Of the unknown extension. */
const HOG_GAS = 1_500_000n;
/** That a side trades through: from the cursor in bin 1 down to -4, and up to 4. */
const BINS = { bids: 6, asks: 4 };

const isCreation = (call: unknown): boolean => typeof call === 'object' && call !== null && !('to' in call);
const lowercase = ({ pool }: MarketPool) => pool.toLowerCase() as Address;

/**
 * Storage and prices; then one for each side without its guards, the state of the stop loss,
 * and the swaps that confirm the ends.
 */
const CALLS_SIMULATED = 6;
/** One more for each side, to find edges where the pool keeps a part of the output. */
const CALLS_SEARCHED = 8;

describe.each([
  ['sumOnPrice', 'formula', 'fill'],
  ['quotient', 'fit', 'fill'],
  ['growing', 'simulation', 'fill'],
  ['offOutput', 'simulation', 'fill'],
  ['sumOnPrice', 'formula', 'revert'],
  ['quotient', 'fit', 'revert'],
  ['growing', 'simulation', 'revert'],
] as const)('guarded pools that charge by the rule %s (%s), whose zero amounts %s', (rule, method, zeroAmounts) => {
  const world = startedPackedMarket({ ...packedVariant(rule), zeroAmounts });

  test('trade as far as a velocity guard lets them', async () => {
    const [calm, jumpy] = [await pool(velocity(10n ** 18n)), await pool(velocity(10n ** 15n))];
    const { api, quotes } = await afterMove([calm, jumpy], 204n);
    await expectWhole(api, calm, 204n, quotes[0]);
    expect(quotes[1]).toMatchObject({ priceProviderStatus: 'pool_refused', depth: { bids: [], asks: [] } });
    expect(await simulated(jumpy, 204n, true, SMALLEST_SWAP)).toBe('velocity');
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
    expect(lastMethod(api, lowercase(tight))).toBe(method);
    const end = bids.at(-1);
    const beyond = end ? amountsOf(end).input + ONE : SMALLEST_SWAP;
    expect(await simulated(tight, 204n, true, beyond)).toBe('refused');
    if (method === 'simulation')
      expect(await callsAtNewBlock(api, lowercase(tight), lowercase(roomy))).toBe(
        rule === 'offOutput' ? CALLS_SEARCHED : CALLS_SIMULATED,
      );
  });

  test('are probed past an extension that nobody knows', async () => {
    const own = await pool(await unknown());
    const { api, quotes } = await afterMove([own], 201n);
    await expectWhole(api, own, 201n, quotes[0]);
  });

  test('trade at a price of 1, at which an input of one unit buys less than one unit', async () => {
    const guards = [velocity(10n ** 18n), stopLoss(900_000), stopLoss(0), await unknown()];
    const pools: MarketPool[] = [];
    for (const guard of guards) pools.push(await pool(guard, 0n));
    const { api, quotes } = await afterMove(pools, 100n);
    for (const [index, own] of pools.entries()) {
      expect(await simulated(own, 100n, true, 1n)).toBe(zeroAmounts === 'revert' ? 'tooSmall' : 0n);
      expect(await simulated(own, 100n, false, 1n)).toBe(zeroAmounts === 'revert' ? 'tooSmall' : 0n);
      await expectWhole(api, own, 100n, quotes[index], { bids: 4, asks: 5 });
    }
  });

  test('have a side without liquidity that is not refused', async () => {
    const [empty, guarded] = [await pool(velocity(10n ** 18n)), await pool(await unknown())];
    for (const own of [empty, guarded]) await world.market.buy(own, 350n * ONE);
    const { quotes } = await afterMove([empty, guarded], 200n);
    for (const quote of quotes) {
      expect(quote?.priceProviderStatus).toBe('healthy');
      expect(tradingLevels(quote?.depth?.bids ?? [])).not.toEqual([]);
    }
  });
  test('keep their method when guards refuse after a move of the price, also more of them than may be simulated', async () => {
    const refusing = [];
    for (let index = 0; index < 3; index++)
      refusing.push(await pool(velocity(10n ** 15n)), await pool(stopLoss(10_000)));
    const quotes = { ...eagerQuotes, simulatedPoolsPerRead: method === 'simulation' ? 6 : 1 };
    const { api, quotes: moved } = await afterMove(refusing, 206n, undefined, quotes);
    expect(moved.map((quote) => quote?.priceProviderStatus)).toEqual(
      refusing.map((_, index) => (index % 2 === 0 ? 'pool_refused' : 'healthy')),
    );
    expect(refusing.map((own) => lastMethod(api, lowercase(own)))).toEqual(refusing.map(() => method));
  });

  test.runIf(method === 'fit').each(['refuse', 'ignore'] as const)(
    'are fitted again as soon as guards let them where the node cannot leave guards out: %s',
    async (how) => {
      const jumpy = await pool(velocity(10n ** 15n));
      await withProxies(world.market.setup.chain.rpcUrl, async (node) => {
        node.misbehave({ kind: 'noOverrides', how }, ({ params }) => isCreation(params[0]));
        const { api, quotes } = await afterMove([jumpy], 204n, node.url);
        expect(quotes[0]?.priceProviderStatus).toBe('pool_refused');
        expect(lastMethod(api, lowercase(jumpy))).toBe('simulation');
        await setQuote(world.market.setup.chain, jumpy.provider, quoteAround(200n));
        await mineAndSee(world.market.setup, api, { address: lowercase(jumpy) });
        const [result] = await api.results([lowercase(jumpy)]);
        await expectWhole(api, jumpy, 200n, result && 'quote' in result ? result.quote : undefined);
      });
    },
  );

  test.runIf(method === 'simulation').each(['refuse', 'ignore'] as const)(
    'are asked on the way where the node cannot leave them out: %s',
    async (how) => {
      const tight = await pool(stopLoss(10_000));
      await withProxies(world.market.setup.chain.rpcUrl, async (node) => {
        node.misbehave({ kind: 'noOverrides', how }, ({ params }) => isCreation(params[0]));
        const { api, quotes } = await afterMove([tight], 204n, node.url);
        const [bids, asks] = [tradingLevels(quotes[0]?.depth?.bids ?? []), tradingLevels(quotes[0]?.depth?.asks ?? [])];
        await expectFills(tight, 204n, true, bids);
        await expectFills(tight, 204n, false, asks);
        expect(bids.length).toBeLessThan(BINS.bids);
        expect(asks).toHaveLength(BINS.asks);
        expect(lastMethod(api, lowercase(tight))).toBe('simulation');
      });
    },
  );

  test('have an error that is in no table logged once, with selector and pool', async () => {
    const { chain, deployment } = world.market.setup;
    const own = await pool(velocity(10n ** 18n));
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
    const api = await packedApi({ chain }, [{ address: lowercase(own), deployment }], eagerQuotes, undefined, logger);
    await takenBack(chain, async () => {
      await chain.client.setCode({
        address: deployment.priceVelocityGuard,
        bytecode: '0x63deadbeef60e01b5f5260045ffd',
      });
      for (let block = 0; block < 3; block++) {
        await mineAndSee({ chain }, api, { address: lowercase(own) });
        await api.results([lowercase(own)]);
      }
    });
    const named = lines.filter(({ selector }) => selector !== undefined);
    expect(named).toMatchObject([{ chainId: chain.chainId, pool: lowercase(own), selector: '0xdeadbeef' }]);
  });

  const velocity = (maxChangePerBlockE18: bigint) =>
    velocityExtension(world.market.setup.deployment, maxChangePerBlockE18);

  const unknown = async (): Promise<ExtensionSpec> => {
    const hog = await deployContract(world.market.setup.chain, 'GasHog', [HOG_GAS]);
    return { address: hog, phases: ['beforeSwap'], initData: '0x' };
  };

  const stopLoss = (drawdownE6: number) =>
    packedStopLossExtension(world.market.setup.deployment, { drawdownE6, decayPerSecondE18: 0n, timelockSecs: 60 });

  /** A pool of nine bins, of which the first above the cursor's is bought half empty, or nothing is bought. */
  async function pool(guard: ExtensionSpec, bought = 150n * ONE): Promise<MarketPool> {
    const bins = evenBins(-4, 4, 10_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 2 ? 300 : 800 }));
    const own = await world.market.fundedPool(() => [guard], undefined, { bins, adminNotionalFeeE8: 5_000 });
    if (bought > 0n) await world.market.buy(own, bought);
    return own;
  }

  /** Quotes pools at price 2, at which their guards let them trade, and then at another. */
  async function afterMove(
    pools: readonly MarketPool[],
    hundredths: bigint,
    node = world.market.setup.chain.rpcUrl,
    limits = eagerQuotes,
  ) {
    const { chain, deployment } = world.market.setup;
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

  async function callsAtNewBlock(api: PackedApi, address: Address, other: Address): Promise<number> {
    await mineAndSee(world.market.setup, api, { address: other });
    const before = api.calls.length;
    await api.results([address]);
    return api.calls.slice(before).filter((call) => call.startsWith('eth_call')).length;
  }

  type AnyQuote = Awaited<ReturnType<typeof afterMove>>['quotes'][number];

  async function expectWhole(api: PackedApi, own: MarketPool, hundredths: bigint, quote: AnyQuote, whole = BINS) {
    expect(quote?.priceProviderStatus).toBe('healthy');
    expect(lastMethod(api, lowercase(own))).toBe(method);
    const [bids, asks] = [tradingLevels(quote?.depth?.bids ?? []), tradingLevels(quote?.depth?.asks ?? [])];
    expect({ bids: bids.length, asks: asks.length }).toEqual(whole);
    await expectFills(own, hundredths, true, bids);
    await expectFills(own, hundredths, false, asks);
  }

  /**
   * An output of one unit, and the middle and the end of every level, for which the chain gives what the level says.
   */
  async function expectFills(own: MarketPool, hundredths: bigint, zeroForOne: boolean, levels: readonly Level[]) {
    const ends = levels.map(amountsOf);
    const middles = ends.map(({ input }, index) => (input + (ends[index - 1]?.input ?? 0n)) / 2n);
    const given = (input: bigint) => simulated(own, hundredths, zeroForOne, input);
    for (const amount of [SMALLEST_SWAP, ...middles]) expect(await given(amount), `${amount}`).toBeTypeOf('bigint');
    for (const { input, output } of ends) expect(await given(input)).toBeGreaterThanOrEqual(output);
  }

  /** What the chain gives for a swap, or why it does not. */
  async function simulated(own: MarketPool, hundredths: bigint, zeroForOne: boolean, amountSpecified: bigint) {
    const { chain, deployment } = world.market.setup;
    const order = { pool: own.pool, zeroForOne, amountSpecified, ...quoteAround(hundredths) };
    const data = await packedSimulation(chain, deployment, order);
    const result = { success: false, data };
    const swap = simulatedAmounts(result);
    if (!swap) return swapOutcome(result);
    return -(zeroForOne ? swap.amount1Delta : swap.amount0Delta);
  }
});
