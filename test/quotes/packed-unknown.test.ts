import { type Address, encodeAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { deployContract } from '../../devnet/deploy.ts';
import { packedSimulation } from '../../devnet/packed/actions.ts';
import { type MarketPool, ONE, quoteAround } from '../../devnet/packed/market.fixture.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type ExtensionSpec, evenBins } from '../../devnet/pools.ts';
import { simulatedAmounts } from '../../protocol/pool-errors.ts';
import { fillCurve, foundAt } from '../../protocol/routing/fill-curve.ts';
import { amountsOf, type Level, tradingLevels } from './chain-curve.ts';
import { lastMethod, mineAndSee, packedApi, startedPackedMarket } from './packed-world.ts';
import { withProxies } from './with-proxies.ts';

const ANY = (1n << 127n) - 1n;
const JSON_BODY = { 'Content-Type': 'application/json' };
/** That a side trades through: from the cursor in bin 1 down to -4, and up to 4. */
const BINS = { bids: 6, asks: 4 };
/** A half of a bin, halved 18 times. */
const SEARCHED = (100n * ONE) >> 18n;
const lowercase = ({ pool }: MarketPool) => pool.toLowerCase() as Address;

describe.each([
  ['sumOnPrice', 'formula'],
  ['quotient', 'fit'],
  ['growing', 'simulation'],
  ['offOutput', 'simulation'],
] as const)('pools that charge by the rule %s (%s)', (rule, method) => {
  const world = startedPackedMarket(packedVariant(rule));

  test.each([
    ['inputs inside the first bin', 7n * ONE, ANY],
    ['inputs to a thousandth of the first bin', ONE / 10n, ANY],
    ['inputs inside the third bin', 230n * ONE, ANY],
    ['inputs and outputs inside the first bin', 7n * ONE, 20n * ONE],
  ])('trade up to a cap on %s', async (_, maxInput, maxOutput) => {
    const own = await pool(await cap(maxInput, maxOutput));
    const { quote, api } = await quoteOf(own);
    expect(quote?.priceProviderStatus).toBe('healthy');
    for (const [zeroForOne, levels] of [
      [true, tradingLevels(quote?.depth?.bids ?? [])],
      [false, tradingLevels(quote?.depth?.asks ?? [])],
    ] as const) {
      const end = levels.at(-1);
      expect(end).toBeDefined();
      if (!end) continue;
      expect(amountsOf(end).input).toBeLessThanOrEqual(maxInput);
      expect(amountsOf(end).input).toBeGreaterThan(maxInput - maxInput / 10_000n - SEARCHED);
      await expectKept(own, zeroForOne, levels);
    }
    expect(lastMethod(api, lowercase(own))).toBe(method);
  });

  test('keep the end of a side at later blocks, with fewer calls', async () => {
    const [own, other] = [await pool(await cap(7n * ONE, ANY)), await pool()];
    const { chain, deployment } = world.market.setup;
    const api = await packedApi(
      { chain },
      [own, other].map((each) => ({ address: lowercase(each), deployment })),
    );
    const read = async () => {
      await mineAndSee(world.market.setup, api, { address: lowercase(other) });
      const before = api.calls.length;
      const [result] = await api.results([lowercase(own)]);
      const calls = api.calls.slice(before).filter((call) => call.startsWith('eth_call'));
      return { depth: result && 'quote' in result ? result.quote.depth : null, calls: calls.length };
    };
    const [first, second] = [await read(), await read()];
    expect(tradingLevels(first.depth?.bids ?? [])).toHaveLength(1);
    expect(second.depth).toEqual(first.depth);
    // Storage and prices, and a call a side.
    if (method === 'formula') expect(second.calls).toBe(4);
    expect(second.calls).toBeLessThanOrEqual(first.calls - 4);
  });

  test.each([true, false])('are routed for no more than the chain gives, sale: %s', async (zeroForOne) => {
    const own = await pool();
    const { quote, api } = await quoteOf(own);
    const levels = tradingLevels((zeroForOne ? quote?.depth?.bids : quote?.depth?.asks) ?? []).map(amountsOf);
    const [tokenIn, tokenOut] = zeroForOne
      ? [world.market.token0, world.market.token1]
      : [world.market.token1, world.market.token0];
    const planOf = async (amount: object) => {
      const body = JSON.stringify({ tokenIn, tokenOut, ...amount });
      const path = `/public/v1/evm/${world.market.setup.chain.chainId}/route`;
      const { text } = await api.request(path, { method: 'POST', headers: JSON_BODY, body });
      const { amountIn, amountOut } = JSON.parse(text);
      return { input: BigInt(amountIn), output: BigInt(amountOut) };
    };
    for (const amountIn of amountsAlong(levels.map(({ input }) => input))) {
      const { output } = await planOf({ amountIn: `${amountIn}` });
      expect((await simulated(own, zeroForOne, amountIn))?.output).toBeGreaterThanOrEqual(output);
    }
    for (const amountOut of amountsAlong(levels.map(({ output }) => output))) {
      const { input } = await planOf({ amountOut: `${amountOut}` });
      expect((await simulated(own, zeroForOne, -amountOut))?.input).toBeLessThanOrEqual(input);
    }
  });

  test('are shown as if open with a swap allowlist', async () => {
    const [listed, open] = [await pool(allowlist()), await pool()];
    const [{ quote }, { quote: expected }] = [await quoteOf(listed), await quoteOf(open)];
    expect(quote?.priceProviderStatus).toBe('healthy');
    expect(quote?.depth).toEqual(expected?.depth);
    expect(tradingLevels(quote?.depth?.bids ?? [])).toHaveLength(BINS.bids);
    expect(tradingLevels(quote?.depth?.asks ?? [])).toHaveLength(BINS.asks);
  });

  test.each(['refuse', 'ignore'] as const)(
    'have no depth with a swap allowlist where the node cannot leave it out: %s',
    async (how) => {
      const own = await pool(allowlist());
      await withProxies(world.market.setup.chain.rpcUrl, async (node) => {
        node.misbehave({ kind: 'noOverrides', how }, ({ params }) => isCreation(params[0]));
        expect(await quoteOf(own, node.url)).toMatchObject({ status: 503 });
      });
    },
  );

  const cap = async (maxInput: bigint, maxOutput: bigint): Promise<ExtensionSpec> => {
    const { chain, deployment } = world.market.setup;
    const address = await deployContract(chain, 'SwapCap', [deployment.poolFactory, maxInput, maxOutput]);
    return { address, phases: ['afterSwap'], initData: '0x' };
  };

  const allowlist = (): ExtensionSpec => ({
    address: world.market.setup.deployment.swapAllowlist,
    phases: ['beforeSwap'],
    initData: encodeAbiParameters(
      [{ type: 'bool' }, { type: 'address[]' }],
      [false, [world.market.setup.chain.roles.trader]],
    ),
  });

  /**
   * A pool of nine bins, of which the first above the cursor's is bought half empty. Bins near the cursor charge more.
   */
  async function pool(guard?: ExtensionSpec): Promise<MarketPool> {
    const fees = { addFeeBuyE6: 800, addFeeSellE6: 800 };
    const bins = evenBins(-4, 4, 10_000).map((bin) => (bin.bin === 1 || bin.bin === 2 ? { ...bin, ...fees } : bin));
    const own = await world.market.fundedPool(() => [], undefined, {
      bins,
      adminNotionalFeeE8: 50_000,
      extensions: guard ? [guard] : [],
    });
    const capped = guard?.address;
    // Whoever buys is not capped.
    const code = capped && (await world.market.setup.chain.client.getCode({ address: capped }));
    if (capped) await world.market.setup.chain.client.setCode({ address: capped, bytecode: '0x00' });
    await world.market.buy(own, 150n * ONE);
    if (capped && code) await world.market.setup.chain.client.setCode({ address: capped, bytecode: code });
    return own;
  }

  /** What a service answers that was not asked before. */
  async function quoteOf(own: MarketPool, node?: string) {
    const { chain, deployment } = world.market.setup;
    const api = await packedApi({ chain }, [{ address: lowercase(own), deployment }], undefined, node);
    const [result] = await api.results([lowercase(own)]);
    if (result && 'quote' in result) return { api, status: 200, quote: result.quote };
    return { api, status: result?.error.status, quote: null };
  }

  /** The chain gives and takes what a walk over the levels promises, at their ends and between them. */
  async function expectKept(own: MarketPool, zeroForOne: boolean, levels: readonly Level[]) {
    const walked = levels
      .map(amountsOf)
      .map(({ input, output }) => ({ cumulativeInput: input, cumulativeOutput: output }));
    const [sales, purchases] = [fillCurve(walked, 'exact_in'), fillCurve(walked, 'exact_out')];
    for (const input of amountsAlong(sales.given))
      expect((await simulated(own, zeroForOne, input))?.output, `${input}`).toBeGreaterThanOrEqual(
        foundAt(sales, input),
      );
    for (const output of amountsAlong(purchases.given)) {
      const fill = await simulated(own, zeroForOne, -output);
      expect(fill?.output, `${output}`).toBe(output);
      expect(fill?.input).toBeLessThanOrEqual(foundAt(purchases, output));
    }
  }

  async function simulated(own: MarketPool, zeroForOne: boolean, amountSpecified: bigint) {
    const { chain, deployment } = world.market.setup;
    const order = { pool: own.pool, zeroForOne, amountSpecified, ...quoteAround(200n) };
    const swap = simulatedAmounts({ success: false, data: await packedSimulation(chain, deployment, order) });
    if (!swap) return null;
    const { amount0Delta, amount1Delta } = swap;
    return zeroForOne ? { input: amount0Delta, output: -amount1Delta } : { input: amount1Delta, output: -amount0Delta };
  }
});

const isCreation = (call: unknown): boolean => typeof call === 'object' && call !== null && !('to' in call);

/** Ends of levels, and a few amounts between them. */
const amountsAlong = (ends: readonly bigint[]): bigint[] =>
  ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0n;
    return [start + (end - start) / 1_000n, start + (end - start) / 3n, end - (end - start) / 1_000n, end];
  });
