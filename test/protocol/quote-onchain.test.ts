import { type Address, encodeErrorResult, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { addLiquidity, administer, swap } from '../../devnet/actions.ts';
import {
  createPool,
  type ExtensionSpec,
  NEVER,
  stopLossExtension,
  swapAllowlistExtension,
  velocityExtension,
} from '../../devnet/pools.ts';
import { flatPoolAbi, providerAbi } from '../../devnet/protocol-abi.ts';
import { deployAnchoredProvider, feedId, setFeedPrice, silenceFeed } from '../../devnet/providers.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { decodeExtsload, encodeExtsload } from '../../protocol/layouts/extsload.ts';
import { flatAdapter } from '../../protocol/layouts/flat/adapter.ts';
import { sellAndBuyPrices } from '../../protocol/layouts/flat/geometry.ts';
import { invertPrices } from '../../protocol/layouts/flat/quote-inversion.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import { priceFailure } from '../../protocol/pool-errors.ts';
import { startedWorld } from '../harness/open-world.ts';
import {
  callMany,
  createTestPool,
  evenShapes,
  quotingCode,
  readState,
  simulation,
  startPoolChain,
  type TestPool,
} from './pool-chain.ts';
import { decodeSimulation } from './simulation-outcome.ts';

const FEED = feedId('BASE/QUOTE');
const REFERENCE_X64 = 7n * Q64;
const FEED_STALLED = encodeErrorResult({ abi: providerAbi, errorName: 'FeedStalled' });

const poolChain = startedWorld(startPoolChain);
/**
 * One pool with a replaceable, one with an immutable anchored provider, both protected; and one with an open provider.
 */
let replaceable: TestPool;
let immutable: TestPool;
let open: TestPool;

beforeAll(async () => {
  const { chain, deployment } = poolChain;
  const bins = evenShapes(-2, 2);
  open = await createTestPool(poolChain, { decimals: [18, 6], bins });
  const { token0, token1 } = open;
  const priceProvider = await deployAnchoredProvider(chain, deployment, { token0, token1, baseFeedId: FEED });
  await setFeedPrice(chain, deployment, { feedId: FEED, priceX64: REFERENCE_X64 });
  const protectedPool = async (priceProviderTimelock: bigint): Promise<TestPool> => {
    const address = await createPool(chain, deployment, {
      token0,
      token1,
      priceProvider,
      bins,
      priceProviderTimelock,
      initialAmount0PerShareE18: 10n ** 18n,
      initialAmount1PerShareE18: 10n ** 6n,
      curBinDistFromProvidedPriceE6: -300,
      salt: `0x${priceProviderTimelock.toString(16).padStart(64, '0')}`,
    });
    return { ...open, address, provider: priceProvider };
  };
  replaceable = await protectedPool(60n);
  immutable = await protectedPool(NEVER);
});

/** Asks through the pool's address under the stub code. */
async function askStub(pool: TestPool, data: Hex, providerCode?: Hex) {
  const stub = { address: pool.address, code: flatAdapter.prices.providerStubCode(providerFallback(pool)) };
  const provider = providerCode === undefined ? [] : [{ address: pool.provider, code: providerCode }];
  const [result] = await callMany(poolChain, [{ to: pool.address, data }], [stub, ...provider]);
  if (result === undefined) throw new Error('no result');
  return result;
}

/** A pool whose provider is in its storage needs no fallback. */
function providerFallback(pool: TestPool): Address {
  return pool === replaceable ? zeroAddress : pool.provider;
}

async function pricesOf(pool: TestPool) {
  const [result] = await callMany(poolChain, [{ to: pool.address, data: flatAdapter.prices.call }]);
  if (result === undefined) throw new Error('no result');
  return result;
}

describe('a protected provider', () => {
  it('refuses to be asked directly', async () => {
    const data = encodeFunctionData({ abi: providerAbi, functionName: 'getBidAndAskPrice' });
    const [direct] = await callMany(poolChain, [{ to: replaceable.provider, data }]);
    expect(direct?.success).toBe(false);
  });

  it.each(['replaceable', 'immutable'] as const)(
    'reports its exact quote through a pool where it is %s',
    async (which) => {
      const pool = which === 'replaceable' ? replaceable : immutable;
      const answer = await askStub(pool, flatAdapter.prices.providerQuoteCall);
      expect(answer.success).toBe(true);
      const quote = flatAdapter.prices.decodeQuote({ success: true, data: answer.returnData });
      if (!quote) throw new Error('no quote');
      // The reference price with a basis point each of feed spread and margin.
      expect(quote.bidX64).toBe((REFERENCE_X64 * 9_998n) / 10_000n);
      expect(quote.askX64).toBe((REFERENCE_X64 * 10_002n) / 10_000n + 1n);
      const { state } = await readState(poolChain, pool);
      const shown = flatAdapter.prices.decode({ success: true, data: (await pricesOf(pool)).returnData });
      if (typeof shown === 'string') throw new Error(`no prices: ${shown}`);
      expect(sellAndBuyPrices(state, quote)).toEqual(shown);
      const inverted = invertPrices(state, shown);
      expect(inverted && sellAndBuyPrices(state, inverted)).toEqual(shown);
    },
  );

  it('is named to whoever asks the stub which provider is being read', async () => {
    const inSwap = encodeFunctionData({ abi: flatPoolAbi, functionName: 'inSwap' });
    for (const pool of [replaceable, immutable, open]) {
      const { returnData, success } = await askStub(pool, inSwap);
      expect(success).toBe(true);
      expect(BigInt(returnData)).toBe(BigInt(pool.provider));
    }
  });

  it('leaves the stub the storage of the pool, word for word', async () => {
    const slots = stateSlots(replaceable.immutables);
    const { success, returnData } = await askStub(replaceable, encodeExtsload(slots));
    expect(success).toBe(true);
    const words = await Promise.all(
      slots.map((slot) => poolChain.chain.client.getStorageAt({ address: replaceable.address, slot })),
    );
    expect(decodeExtsload(returnData).map(BigInt)).toEqual(words.map((word) => BigInt(word ?? '0x0')));
    expect(new Set(words).size).toBeGreaterThan(3);
    expect(decodeExtsload((await askStub(replaceable, encodeExtsload([]))).returnData)).toEqual([]);
  });

  it('gives the stub no quote, and the pool its own error, when the feed is down', async () => {
    const { chain, deployment } = poolChain;
    await silenceFeed(chain, deployment, FEED, 'takeDown');
    const answer = await askStub(replaceable, flatAdapter.prices.providerQuoteCall);
    const shown = await pricesOf(replaceable);
    await setFeedPrice(chain, deployment, { feedId: FEED, priceX64: REFERENCE_X64 });
    expect(answer).toEqual({ success: false, returnData: '0x' });
    expect(shown.success).toBe(false);
    expect(shown.returnData).toContain(FEED_STALLED.slice(2));
    expect(priceFailure(shown.returnData)).toBe('feedDown');
  });

  it('fails like the pool when it answers with less than two words', async () => {
    const oneWord = '0x60205ff3';
    expect(await askStub(open, flatAdapter.prices.providerQuoteCall, oneWord)).toEqual({
      success: false,
      returnData: '0x',
    });
    const [shown] = await callMany(
      poolChain,
      [{ to: open.address, data: flatAdapter.prices.call }],
      [{ address: open.provider, code: oneWord }],
    );
    expect(priceFailure(shown?.returnData ?? '0x')).toBe('feedDown');
  });
});

describe('refusals', () => {
  const quote: BidAsk = { bidX64: Q64, askX64: Q64 + (Q64 >> 10n) };

  async function simulated(pool: TestPool, zeroForOne: boolean, at: BidAsk = quote) {
    const [result] = await callMany(poolChain, [simulation(pool, at, zeroForOne, 1_000_000n)]);
    return decodeSimulation(result?.returnData ?? '0x');
  }

  /** A pool at price 1 with an extension, whose current bin a buy has filled half with token0, half with token1. */
  async function guardedPool(extension: ExtensionSpec): Promise<TestPool> {
    const { chain, deployment } = poolChain;
    const pool = await createTestPool(poolChain, {
      decimals: [18, 18],
      bins: evenShapes(-1, 1, 5_000),
      quote,
      spec: { extensions: [extension] },
    });
    const bins = [-1, 0, 1].map((bin) => ({ bin, shares: 10n ** 18n }));
    await addLiquidity(chain, deployment, { pool: pool.address, owner: chain.roles.provider, bins });
    await swap(chain, deployment, { pool: pool.address, zeroForOne: false, amountSpecified: -(10n ** 18n / 2n) });
    return pool;
  }

  const times = (factor: bigint, divisor: bigint): BidAsk => ({
    bidX64: (quote.bidX64 * factor) / divisor,
    askX64: (quote.askX64 * factor) / divisor,
  });

  it.each([
    ['a bid above the ask', { bidX64: Q64 + 1n, askX64: Q64 }],
    ['a bid equal to the ask', { bidX64: Q64, askX64: Q64 }],
    ['a bid of zero', { bidX64: 0n, askX64: Q64 }],
  ])("of %s are the quote's fault", async (_, crossed) => {
    const call = { to: open.address, data: flatAdapter.prices.call };
    const [shown] = await callMany(poolChain, [call], [{ address: open.provider, code: quotingCode(crossed) }]);
    expect(shown?.success).toBe(false);
    expect(priceFailure(shown?.returnData ?? '0x')).toBe('quoteRefused');
  });

  it('by a stop loss hit the side whose value fell, and only that', async () => {
    const settings = { drawdownE6: 10_000, decayPerSecondE8: 0, timelockSecs: 60 };
    const pool = await guardedPool(stopLossExtension(poolChain.deployment, settings));
    expect(await simulated(pool, true)).toMatchObject({ kind: 'simulated', amount0Delta: 1_000_000n });
    expect(await simulated(pool, true, times(2n, 1n))).toEqual({ kind: 'refused', by: 'stopLoss' });
    expect(await simulated(pool, false, times(2n, 1n))).toMatchObject({ kind: 'simulated' });
    expect(await simulated(pool, false, times(1n, 2n))).toEqual({ kind: 'refused', by: 'stopLoss' });
    expect(await simulated(pool, true, times(1n, 2n))).toMatchObject({ kind: 'simulated' });
  });

  it('by a velocity guard hit both sides', async () => {
    const pool = await guardedPool(velocityExtension(poolChain.deployment, 10n ** 15n));
    for (const zeroForOne of [true, false]) {
      expect(await simulated(pool, zeroForOne)).toMatchObject({ kind: 'simulated' });
      expect(await simulated(pool, zeroForOne, times(2n, 1n))).toEqual({ kind: 'refused', by: 'priceVelocity' });
    }
  });

  it('by a swap allowlist name the caller', async () => {
    const extensions = [swapAllowlistExtension(poolChain.deployment, [])];
    const pool = await createTestPool(poolChain, { decimals: [18, 18], bins: evenShapes(0, 0), spec: { extensions } });
    expect(await simulated(pool, true)).toEqual({ kind: 'refused', by: 'swapAllowlist' });
  });

  it('leave prices and simulations of a paused pool as they are', async () => {
    const { chain, deployment } = poolChain;
    const before = await pricesOf(open);
    await administer(chain, deployment, { from: chain.roles.curator, functionName: 'pausePool', args: [open.address] });
    expect((await readState(poolChain, open)).state.pauseLevel).toBe(1);
    expect(await pricesOf(open)).toEqual(before);
    expect(await simulated(open, true)).toEqual({ kind: 'simulated', amount0Delta: 0n, amount1Delta: 0n });
  });

  it("of an amount of zero are the amount's fault", async () => {
    const [result] = await callMany(poolChain, [simulation(open, quote, true, 0n)]);
    expect(decodeSimulation(result?.returnData ?? '0x')).toEqual({ kind: 'invalidAmount' });
  });
});
