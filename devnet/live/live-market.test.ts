import { decodeErrorResult } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SwapAmounts, sellAndBuyPrices, swapAmounts } from '../actions.ts';
import { packedSwapAmounts } from '../packed/actions.ts';
import { poolErrors, providerAbi } from '../protocol-abi.ts';
import type { BuiltBlock } from './build-block.ts';
import { quoteAt, tradeAt } from './live-calls.fixture.ts';
import { decodeBuilderFrame, mergedWords, requestForm } from './live-forms.fixture.ts';
import { type LiveMarket, priceAround, startLiveMarket } from './live-market.fixture.ts';
import { type LivePool, ONE } from './live-pools.ts';
import { blockAfter, ETHEREUM_SLOTS } from './pending-block.ts';

const SALE = { zeroForOne: true, amountSpecified: ONE };
const PURCHASE = { zeroForOne: false, amountSpecified: -ONE };

let market: LiveMarket;

beforeAll(async () => {
  market = await startLiveMarket();
});

afterEach(() => market.builder.setLanding('with-trade'));

afterAll(() => market.close());

/** The frame as HTTP returns it, and its words of all venues. */
async function currentFrame() {
  const frame = decodeBuilderFrame(await requestForm(market.builder.builderRpcUrl, 'titan_getPammStateOverrides'));
  return { ...frame, words: mergedWords(frame) };
}

function amountsOf({ layout }: LivePool, { trades }: BuiltBlock, trade = 0): SwapAmounts {
  const logs = trades[trade]?.logs ?? [];
  return layout === 'flat' ? swapAmounts(logs) : packedSwapAmounts(logs);
}

const poolOf = (layout: LivePool['layout'], guard: LivePool['guard']): LivePool => {
  const found = market.pools.find((pool) => pool.layout === layout && pool.guard === guard);
  if (found === undefined) throw new Error(`no ${layout} pool with ${guard}`);
  return found;
};

describe('at the committed head', () => {
  test('pools without an update have no price', async () => {
    for (const pool of market.pools) {
      const outcome = await sellAndBuyPrices(market.chain, pool.address);
      if (!('refusal' in outcome)) throw new Error(`${pool.layout} pool ${pool.address} has a price`);
      const error = decodeErrorResult({ abi: poolErrors, data: outcome.refusal });
      expect(error.errorName).toBe('PriceProviderFailed');
      const [reason] = error.args as [`0x${string}`];
      expect(decodeErrorResult({ abi: providerAbi, data: reason }).errorName).toBe('FeedStalled');
      expect(await quoteAt(market.chain, pool, SALE)).toBe('FeedStalled');
    }
  });

  test('a pool has a price while the head is a block with its update', async () => {
    const pool = poolOf('flat', 'none');
    await market.update(pool, priceAround(200n));
    await market.builder.buildBlock({ trades: [market.trade(pool, SALE)] });
    expect(await quoteAt(market.chain, pool, SALE)).toMatchObject({ amount0Delta: ONE });
    await market.builder.buildBlock();
    expect(await quoteAt(market.chain, pool, SALE)).toBe('FeedStalled');
  });
});

describe('the pending block', () => {
  test('has the number after the head and the time of its slot', async () => {
    const head = await market.chain.client.getBlock();
    const block = market.builder.block();
    expect(block).toEqual({ ...block, number: head.number + 1n, timeSecs: head.timestamp + 12n });
    const { slot, blockNumber } = await currentFrame();
    expect({ slot, blockNumber }).toEqual({ slot: Number(block.slot), blockNumber: Number(block.number) });
    expect(block.timeSecs).toBe(1_606_824_023n + 12n * BigInt(slot));
    await market.builder.buildBlock();
    const built = await market.chain.client.getBlock();
    expect([built.number, built.timestamp]).toEqual([block.number, block.timeSecs]);
  });

  test('of a head between two slots is in the next one', () => {
    const timestamp = 1_606_824_023n + 12n * 100n;
    expect(blockAfter({ number: 7n, timestamp: timestamp + 11n }, ETHEREUM_SLOTS)).toMatchObject({ slot: 101n });
    expect(blockAfter({ number: 7n, timestamp: timestamp + 12n }, ETHEREUM_SLOTS)).toMatchObject({ slot: 102n });
  });
});

describe('a call with the words of a frame', () => {
  test('has a price with state and block overrides, and with one of both it has none', async () => {
    for (const pool of market.pools) await market.update(pool, priceAround(200n));
    const { words } = await currentFrame();
    const block = market.builder.block();
    for (const pool of market.pools) {
      for (const order of [SALE, PURCHASE]) {
        const amounts = await quoteAt(market.chain, pool, order, { words, block });
        expect(amounts).toMatchObject({ amount0Delta: order.amountSpecified });
        expect(await quoteAt(market.chain, pool, order, { words })).toBe('FeedStalled');
        expect(await quoteAt(market.chain, pool, order, { block })).toBe('FeedStalled');
      }
    }
  });

  test('has the newest price, and none after the maker took it back', async () => {
    const pool = poolOf('packed', 'none');
    const block = market.builder.block();
    await market.update(pool, priceAround(200n));
    const before = await quoteAt(market.chain, pool, SALE, { words: (await currentFrame()).words, block });
    const { venue, feedId } = await market.update(pool, priceAround(202n));
    const after = await quoteAt(market.chain, pool, SALE, { words: (await currentFrame()).words, block });
    expect((after as SwapAmounts).amount1Delta).toBeLessThan((before as SwapAmounts).amount1Delta);
    market.builder.cancel({ venue, feedId });
    expect(await quoteAt(market.chain, pool, SALE, { words: (await currentFrame()).words, block })).toBe('FeedStalled');
  });
});

describe('a built block', () => {
  test('fills trades with exactly the amounts of the calls before, right behind their updates', async () => {
    for (const pool of market.pools) await market.update(pool, priceAround(201n));
    const { words } = await currentFrame();
    const block = market.builder.block();
    const trades = market.pools.map((pool, index) => market.trade(pool, index % 2 === 0 ? SALE : PURCHASE));
    const expected = await Promise.all(trades.map((trade) => tradeAt(market.chain, trade, { words, block })));
    const built = await market.builder.buildBlock({ trades });
    expect(market.pools.map((pool, index) => amountsOf(pool, built, index))).toEqual(expected);
    expect(built.updates.map(({ transactionIndex }) => transactionIndex)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(built.trades.map(({ transactionIndex }) => transactionIndex)).toEqual([1, 3, 5, 7, 9, 11]);
    for (const [slot, word] of Object.entries(words[market.registry] ?? {})) {
      expect(await market.chain.client.getStorageAt({ address: market.registry, slot: slot as `0x${string}` })).toBe(
        word,
      );
    }
  });

  test('holds with-trade the updates alone that a trade needs', async () => {
    const [traded, other] = [poolOf('flat', 'none'), poolOf('packed', 'none')];
    for (const pool of [traded, other]) await market.update(pool, priceAround(200n));
    const built = await market.builder.buildBlock({
      trades: [market.trade(traded, SALE), market.trade(traded, PURCHASE)],
    });
    expect(built.updates.map(({ from }) => from.toLowerCase())).toEqual([traded.maker.address]);
    expect(built.trades.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(await quoteAt(market.chain, other, SALE)).toBe('FeedStalled');
  });

  test('holds every update in the mode of that name, also without trades', async () => {
    market.builder.setLanding('every');
    for (const pool of market.pools) await market.update(pool, priceAround(200n));
    expect((await market.builder.buildBlock()).updates).toHaveLength(market.pools.length);
    for (const pool of market.pools) {
      expect(await quoteAt(market.chain, pool, SALE)).toMatchObject({ amount0Delta: ONE });
    }
  });

  test('fails trades whose updates never land, or land a block late', async () => {
    for (const landing of ['never', 'late'] as const) {
      market.builder.setLanding(landing);
      for (const pool of [poolOf('flat', 'none'), poolOf('packed', 'none')]) {
        for (let blocks = 0; blocks < 2; blocks++) {
          await market.update(pool, priceAround(200n));
          const { trades, updates } = await market.builder.buildBlock({ trades: [market.trade(pool, SALE)] });
          expect([trades[0]?.status, updates]).toEqual(['reverted', []]);
        }
      }
    }
    // The words of the last late update arrive, with the time of the block before.
    const { block, words } = await market.update(poolOf('flat', 'none'), priceAround(200n));
    const [stampSlot] = Object.keys(words) as `0x${string}`[];
    await market.builder.buildBlock();
    await market.builder.buildBlock();
    const landed = await market.chain.client.getStorageAt({ address: market.registry, slot: stampSlot ?? '0x' });
    expect(BigInt(landed ?? 0)).toBe(block.timeSecs);
  });

  test('runs the guards of pools at the prices of the updates: they reject a sale after a jump', async () => {
    const errors = { stopLoss: 'OracleStopLossTriggered', velocity: 'PriceVelocityExceeded' };
    const first = { ...PURCHASE, amountSpecified: -50n * ONE };
    for (const pool of market.pools.filter(({ guard }) => guard !== 'none')) {
      await market.update(pool, priceAround(200n));
      await market.builder.buildBlock({ trades: [market.trade(pool, first)] });
      await market.update(pool, priceAround(230n));
      const trade = market.trade(pool, SALE);
      const { words } = await currentFrame();
      const outcome = await tradeAt(market.chain, trade, { words, block: market.builder.block() });
      expect(outcome).toBe(errors[pool.guard as keyof typeof errors]);
      expect((await market.builder.buildBlock({ trades: [trade] })).trades[0]?.status).toBe('reverted');
    }
  });

  test('takes no update for another block', async () => {
    const pool = poolOf('flat', 'none');
    const update = await market.update(pool, priceAround(200n));
    await market.builder.buildBlock();
    expect(() => market.builder.submit(update)).toThrow('the builder builds');
    expect((await currentFrame()).venues.size).toBe(0);
  });
});
