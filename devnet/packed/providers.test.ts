import { type Address, decodeFunctionResult, encodeErrorResult, encodeFunctionData, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Q64 } from '../../protocol/fixed-point.ts';
import { sellAndBuyPrices } from '../actions.ts';
import { staticCall } from '../dev-chain.ts';
import { NEVER } from '../pools.ts';
import { flatPoolAbi } from '../protocol-abi.ts';
import { extensionProviderAbi, quoteProviderAbi } from './abi.ts';
import { named, ONE, PackedMarket, quoteAround, refusalOf } from './market.fixture.ts';
import { setQuote } from './providers.ts';
import { PACKED_VARIANTS } from './variants.ts';

let market: PackedMarket;

beforeAll(async () => {
  const [variant] = PACKED_VARIANTS;
  if (variant === undefined) throw new Error('there are no variants');
  market = await PackedMarket.open(variant);
});

afterAll(() => market.setup.anvil.stop());

/** What a provider answers this caller, or the name of its refusal. */
async function quotedTo(from: Address, provider: Address): Promise<readonly bigint[] | string> {
  const data = encodeFunctionData({ abi: quoteProviderAbi, functionName: 'getQuote' });
  const answer = await staticCall(market.setup.chain, { from, to: provider, data });
  if (answer.reverted) return named(answer.data).name;
  return decodeFunctionResult({ abi: quoteProviderAbi, functionName: 'getQuote', data: answer.data });
}

const { bidX64, askX64, referenceX64 } = quoteAround(200n);

describe('a provider', () => {
  test('that is protected answers its pools in mid-swap only', async () => {
    const { chain } = market.setup;
    const { pool, provider } = await market.fundedPool();
    for (const caller of [zeroAddress, chain.roles.untrusted, chain.roles.owner, pool]) {
      expect(await quotedTo(caller, provider)).toBe('NotInSwap');
    }
    expect(await sellAndBuyPrices(chain, pool)).toHaveProperty('sellX64');
    const inSwap = encodeFunctionData({ abi: flatPoolAbi, functionName: 'inSwap' });
    expect(BigInt((await staticCall(chain, { to: pool, data: inSwap })).data)).toBe(0n);
  });

  test('that is open answers address 0 as well', async () => {
    const { pool, provider } = await market.fundedPool(undefined, 'OpenQuoteProvider');
    expect(await quotedTo(zeroAddress, provider)).toEqual([bidX64, askX64, referenceX64]);
    expect(await quotedTo(market.setup.chain.roles.untrusted, provider)).toBe('NotInSwap');
    expect((await market.buy({ pool, provider }, ONE)).amount0Delta).toBe(-ONE);
  });

  test('may be an extension of its own pools', async () => {
    const { chain } = market.setup;
    const both = await market.fundedPool(
      (address) => [{ address, phases: ['beforeSwap', 'afterSwap'] }],
      'ExtensionQuoteProvider',
      { priceProviderTimelock: NEVER },
    );
    const data = encodeFunctionData({ abi: flatPoolAbi, functionName: 'getImmutables' });
    const answer = await staticCall(chain, { to: both.pool, data });
    const fixed = decodeFunctionResult({ abi: flatPoolAbi, functionName: 'getImmutables', data: answer.data });
    expect(fixed.extension1.toLowerCase()).toBe(both.provider);
    expect(fixed.immutablePriceProvider.toLowerCase()).toBe(both.provider);
    await market.buy(both, ONE);
    const count = encodeFunctionData({ abi: extensionProviderAbi, functionName: 'swapsOf', args: [both.pool] });
    expect(BigInt((await staticCall(chain, { to: both.provider, data: count })).data)).toBe(1n);
    expect(await market.simulatedSale(both, ONE, quoteAround(200n))).toMatchObject({ name: 'SimulateSwap' });
    expect(await market.simulatedSale(both, ONE, quoteAround(201n))).toEqual({ name: 'NotMyQuote', args: [] });
  });

  test('without a price stops swaps, not simulations', async () => {
    const pool = await market.fundedPool();
    await setQuote(market.setup.chain, pool.provider, { bidX64: 0n, askX64: 0n, referenceX64: 0n });
    const args = [encodeErrorResult({ abi: quoteProviderAbi, errorName: 'FeedStalled' })];
    expect(await refusalOf(market.buy(pool, ONE))).toEqual({ name: 'PriceProviderFailed', args });
    const prices = await sellAndBuyPrices(market.setup.chain, pool.pool);
    expect('refusal' in prices && named(prices.refusal)).toEqual({ name: 'PriceProviderFailed', args });
    expect(await market.simulatedSale(pool, ONE, quoteAround(200n))).toMatchObject({ name: 'SimulateSwap' });
  });
});

describe('a quote', () => {
  test.each([
    ['BidIsZero', { bidX64: 0n, askX64, referenceX64 }],
    ['BidGreaterThanAsk', { bidX64: askX64 + 1n, askX64, referenceX64 }],
    ['ReferencePriceOutOfRange', { bidX64, askX64, referenceX64: bidX64 - 1n }],
    ['ReferencePriceOutOfRange', { bidX64, askX64, referenceX64: askX64 + 1n }],
  ])('is refused with %s', async (name, quote) => {
    const pool = await market.fundedPool();
    await setQuote(market.setup.chain, pool.provider, quote);
    expect(await refusalOf(market.buy(pool, ONE))).toEqual({ name, args: [] });
    expect(await market.simulatedSale(pool, ONE, quote)).toEqual({ name, args: [] });
  });

  test('may have one price for all three', async () => {
    const pool = await market.fundedPool();
    const price = 2n * Q64;
    await setQuote(market.setup.chain, pool.provider, { bidX64: price, askX64: price, referenceX64: price });
    expect((await market.buy(pool, ONE)).amount0Delta).toBe(-ONE);
  });
});
