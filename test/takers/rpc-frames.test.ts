import { expect, onTestFinished, test } from 'vitest';
import { StatusResult } from '../../api/levels/status-schema.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { parseBuilderFrame } from '../../quoting/live/builder-frame.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, startLiveStream, updateAll, waitForUpdates } from '../live/live-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import {
  decodeBap710Frame,
  decodeBap710Overrides,
  decodeBuilderAnswer,
  decodeBuilderFrame,
  pricedPairs,
} from './decoders.ts';
import { connectTexts, type TextClient } from './levels-client.ts';
import { askWs, call, KEY, noteTexts, type RpcResponse, until } from './rpc-client.ts';
import { startedRpcWorld } from './rpc-world.ts';

const { world, api, rpcOf, rpc, pools } = startedRpcWorld();
const { ask, askText } = rpc;
/** Its source may not be passed on. */
const closed = startedWorld(() => startLiveStream(world));
const closedRpc = rpcOf(closed);

test('state overrides of a source that may be passed on are its own words, in both forms, for the block being built', async () => {
  const updates = await updateAll(world.market, () => 203n);
  const sent = Object.assign({}, ...updates.map(({ words }) => words)) as Record<string, string>;
  const holds = (words: Record<string, string> | undefined) =>
    words !== undefined && Object.entries(sent).every(([slot, value]) => words[slot] === value);
  const { registry, builder } = world.market;
  await until('the words', async () => {
    const { merged } = decodeBap710Overrides(await askText('pamm_getPammStateOverrides'));
    return holds(merged[registry]);
  });
  const { number } = builder.block();
  const relayer = decodeBap710Overrides(await askText('pamm_getPammStateOverrides'));
  const text = await askText('titan_getPammStateOverrides');
  const titan = decodeBuilderAnswer(text);
  expect([relayer.blockNumber, titan.blockNumber]).toEqual([number, number]);
  expect(titan.venues).toEqual(relayer.venues);
  expect(relayer.venues.size).toBeGreaterThan(0);
  const [words] = [...relayer.venues.values()];
  expect(Object.keys(words ?? {})).toContain(registry);
  // Another service reads it as it reads a builder, nanoseconds included.
  expect(parseBuilderFrame(text, world.config.chainId)).toMatchObject({ blockNumber: number, isComplete: false });
});

test('words of other sources are never passed on', async () => {
  await updateAll(world.market, () => 204n);
  const batch = { method: 'POST', body: JSON.stringify({ pools: pools() }) };
  await until('live quotes', async () =>
    (await (await fetch(`${closed.base}/bid_ask/batch`, batch)).text()).includes('"live"'),
  );
  const relayer = decodeBap710Overrides(await closedRpc.askText('pamm_getPammStateOverrides'));
  expect([relayer.venues.size, relayer.merged]).toEqual([0, {}]);
  expect(decodeBuilderAnswer(await closedRpc.askText('titan_getPammStateOverrides')).venues.size).toBe(0);
  expect((await closedRpc.ask('pamm_status')).result).toMatchObject({
    ready: true,
    liveQuotes: 0,
    overlaySlots: 0,
  });
  const status = async () => StatusResult.parse((await ask('pamm_status')).result);
  // Readers of other tests may still count.
  await expect.poll(status).toEqual({
    ready: true,
    targetBlock: Number(world.market.builder.block().number),
    quotes: 2,
    liveQuotes: 2,
    overlaySlots: expect.any(Number),
    builders: [],
    pendingBundles: 0,
    maxQuoteAgeMs: 8_000,
    quoteStreamSubscribers: 0,
    priceLevels: expect.objectContaining({ intervalMs: 250, subscribers: 0 }),
  });
});

test('price levels are those of the other endpoint, in the form that the name of the call says', async () => {
  await waitForUpdates(world, await updateAll(world.market, () => 205n), batchesOf(api));
  for (const [method, format, decode] of [
    ['pamm_getPammPriceLevels', 'bap710', decodeBap710Frame],
    ['titan_getPammPriceLevels', 'builder', decodeBuilderFrame],
  ] as const) {
    const url = `${api.base}/price_levels?format=${format}&pools=${pools()}`;
    // What nodes do not give in time is of the last block, without a price.
    await until('the same levels of all pools', async () => {
      const called = pricedPairs(decode(await askText(method, [{ pamms: pools() }])));
      const read = pricedPairs(decode(await (await fetch(url)).text()));
      return called.length === 6 && stringifyJson(called) === stringifyJson(read);
    });
    for (const headers of [KEY, { 'X-Api-Key': 'good' }])
      await until('all pools', async () => decode(await askText(method, [], headers)).pairs.length === 6);
    // Without a key it is the frame of the last second.
    await until('the pools that are read for anyone', async () => {
      const { pairs, omitted } = decode(await askText(method));
      return pairs.length >= 4 && pairs.length / 2 + Number(omitted) === 3;
    });
  }
});

test('calls, subscriptions and WebSockets without a key get one frame of each form', async () => {
  await updateAll(world.market, () => 206n);
  const subscriber = await connectTexts(rpc.url());
  const { result } = await askWs(subscriber, call('pamm_subscribe', ['subscribePriceLevelsV1'], 'l'));
  const bap710 = await connectTexts(`${api.base}/price_levels?format=bap710`);
  const builder = await connectTexts(`${api.base}/ws/pamm_price_levels`);
  const textsOf = ({ texts }: TextClient) => texts.map(({ text }) => text);
  const readers = [
    ['pamm_getPammPriceLevels', () => textsOf(bap710)],
    ['pamm_getPammPriceLevels', () => noteTexts(subscriber, result)],
    ['titan_getPammPriceLevels', () => textsOf(builder)],
  ] as const;
  for (const [method, texts] of readers) {
    await until('a frame', () => texts().length > 0);
    const text = await askText(method);
    await until('the same frame', () => texts().includes(text));
  }
});

/** An API behind a node so slow that prices change while it reads. */
async function startSlowRpc() {
  const proxy = await startRpcProxy(world.market.chain.rpcUrl);
  proxy.misbehave({ kind: 'slow', ms: 100 });
  const chain = { ...api.chain, rpcUrls: [proxy.url] };
  const slow = await startStreamApi({ chain, directory: fixedDirectory(world.served) });
  onTestFinished(async () => {
    await slow.stop();
    await proxy.stop();
  });
  return rpcOf(slow);
}

/** Sets prices, and knows which price words mean. */
function priceSetter() {
  const sent: { readonly pool: string; readonly price: bigint; readonly words: Readonly<Record<string, string>> }[] =
    [];
  return {
    set: async (price: bigint) => {
      const updates = await updateAll(world.market, () => price);
      for (const [index, { words }] of updates.entries()) sent.push({ pool: pools()[index] ?? '', price, words });
    },
    priceOf: (pool: string, words: Readonly<Record<string, string>>) =>
      sent.findLast(
        (each) => each.pool === pool && Object.entries(each.words).every(([slot, word]) => words[slot] === word),
      )?.price,
  };
}

test('state overrides and price levels of a batch are of one state while prices change', async () => {
  const slow = await startSlowRpc();
  const { set, priceOf } = priceSetter();
  /** The prices that the words of a batch mean, and its levels, by pool. */
  const readBoth = async (isLevelsFirst = false) => {
    const calls = [call('pamm_getPammStateOverrides', [], 1), call('pamm_getPammPriceLevels', [{ pamms: pools() }], 2)];
    const text = await (await slow.post(isLevelsFirst ? calls.reverse() : calls)).text();
    const responses = parseJson(text) as RpcResponse[];
    const [overrides, levels] = isLevelsFirst ? responses.reverse() : responses;
    const words = decodeBap710Overrides(stringifyJson(overrides?.result)).merged[world.market.registry] ?? {};
    const pairs = pricedPairs(decodeBap710Frame(stringifyJson(levels?.result)));
    return pools().map((pool) => ({
      price: priceOf(pool, words),
      levels: stringifyJson(pairs.filter(({ pamm }) => pamm === pool)),
    }));
  };
  const prices = [194n, 198n, 202n, 206n];
  const levelsAt = new Map<bigint, readonly string[]>();
  for (const price of prices) {
    await set(price);
    await until('the price', async () => {
      const read = await readBoth();
      const levels = read.map((each) => each.levels);
      levelsAt.set(price, levels);
      return read.every((each) => each.price === price);
    });
  }
  let isOver = false;
  const changes = (async () => {
    for (let count = 0; !isOver; count += 1) await set(prices[count % prices.length] ?? 0n);
  })();
  const seen = new Set<bigint>();
  for (let count = 0; count < 20 || seen.size <= 2; count += 1) {
    for (const [index, { price, levels }] of (await readBoth(count % 2 === 0)).entries()) {
      // Where prices change during each of several reads, both are of the last block, which has none.
      expect(price === undefined).toBe(levels === '[]');
      expect(prices.find((each) => levelsAt.get(each)?.[index] === levels)).toBe(price);
      if (price !== undefined) seen.add(price);
    }
  }
  isOver = true;
  await changes;
});

test('a quote for an exact input is that of the levels, of the best pool or of one', async () => {
  await waitForUpdates(world, await updateAll(world.market, () => 207n), batchesOf(api));
  const { pairs } = decodeBuilderFrame(await askText('titan_getPammPriceLevels', [{ pamms: pools() }]));
  for (const { pamm, tokenIn, tokenOut, levels } of pairs) {
    // Of several levels, not all are ends of bins.
    for (const { amountIn, amountOut } of [levels.at(-1), levels.at(-4)].filter((level) => level !== undefined)) {
      const order = [tokenIn, tokenOut, `0x${amountIn.toString(16)}`];
      const [one, best] = [
        await ask('titan_getPammQuoteVenue', [pamm, ...order]),
        await ask('titan_getPammQuote', order),
      ];
      for (const { result } of [one, best]) {
        expect(result).toMatchObject({
          tokenIn,
          tokenOut,
          amountIn: order[2],
          amountOut: expect.stringMatching(/^0x/),
        });
        const { pamm: venue, router } = result as unknown as { pamm: string; router: string };
        expect([pools().includes(venue as never), router]).toEqual([true, venue]);
      }
      const [given, most] = [one, best].map(({ result }) =>
        BigInt((result as unknown as { amountOut: string }).amountOut),
      );
      expect(given).toBeLessThanOrEqual(amountOut);
      expect(Number(given)).toBeGreaterThan(Number(amountOut) * 0.98);
      expect(most).toBeGreaterThanOrEqual(given ?? 0n);
    }
  }
  const { error } = await ask('titan_getPammQuoteVenue', [
    `0x${'99'.repeat(20)}`,
    pairs[0]?.tokenIn,
    pairs[0]?.tokenOut,
    '0x1',
  ]);
  expect(error).toEqual({
    code: -32_001,
    message: 'venue is neither a served pool nor a router whose pools trade tokenIn for tokenOut',
  });
});
