import { createPublicClient, http } from 'viem';
import { expect, test } from 'vitest';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { batchesOf, paidBy, updateAll, waitForUpdates } from '../live/live-world.ts';
import { swapAtHead } from '../live/viem-swap.ts';
import { connectTexts, type TextClient } from './levels-client.ts';
import {
  type Accounts,
  type Book,
  lenientReader,
  type Rung,
  slotsOf,
  strictReader,
  wordsOfVenues,
} from './program-readers.ts';
import { askWs, call, notesOf, until } from './rpc-client.ts';
import { startedRpcWorld } from './rpc-world.ts';

/*
 * A script for each program of the table in docs/use/takers.md (router-face.test.ts has the last): it does what the
 * public program does, from the handshake to a swap that fills on the node, with nothing but the URL set.
 */

const { world, api, rpc } = startedRpcWorld();

/** A swap that a program decides on. */
interface Order {
  readonly pool: LivePool;
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
  /** What the program counts on. */
  readonly amountOut: bigint;
}
const poolAt = (address: string) => world.market.pools.find((pool) => pool.address === address.toLowerCase());
const wsUrl = (path: string) => `${api.base}/ws/${path}`;
const isTarget = (blockNumber: number) => BigInt(blockNumber) === world.market.builder.block().number;

/** The middle rung of a side of each pool. */
const ordersOf = (book: Book): Order[] =>
  world.market.pools.flatMap((pool, index) => {
    const sides = book.filter(([pamm, , rungs]) => poolAt(pamm) === pool && rungs.length > 0);
    const [, tokenIn, rungs] = sides[index % Math.max(1, sides.length)] ?? [];
    const rung = rungs?.[Math.floor(rungs.length / 2)];
    if (!rung) return [];
    const [amountIn, amountOut] = [BigInt(rung.amountIn), BigInt(rung.amountOut)];
    return [{ pool, zeroForOne: tokenIn?.toLowerCase() === world.market.token0, amountIn, amountOut }];
  });

/** Keeps the last book that a socket sent of the block being built. */
async function lastBook(client: TextClient, read: (text: string) => Book | null): Promise<Book> {
  const last = () => {
    const { text } = client.texts.at(-1) ?? {};
    return text === undefined ? null : read(text);
  };
  await until('levels of two pools', () => new Set(last()?.map(([pamm]) => pamm)).size >= 2);
  return last() ?? [];
}

/** Simulates swaps at the head under overrides of the block being built, as solvers do. */
async function simulated(stateDiffs: Accounts): Promise<Order[]> {
  const { market } = world;
  const { number, timeSecs } = market.builder.block();
  const node = createPublicClient({ transport: http(market.chain.rpcUrl) });
  const stateOverride = Object.fromEntries(
    Object.entries(stateDiffs).map(([account, stateDiff]) => [account, { stateDiff }]),
  );
  const blockOverrides = { number: `0x${number.toString(16)}`, time: `0x${timeSecs.toString(16)}` };
  const orders = market.pools.map(async (pool, index) => {
    const swap = { pool, zeroForOne: index % 2 === 0, amountIn: 10n ** 17n };
    expect(await swapAtHead(node, swap)).toBeNull();
    const { output } = (await swapAtHead(node, swap, { stateOverride, blockOverrides })) ?? expect.fail('it reverts');
    return { ...swap, amountOut: output };
  });
  return Promise.all(orders);
}

/** Waits for a frame of the block being built with a word of each pool. */
async function liveWords(read: () => Promise<Readonly<Record<string, unknown>>>, wordsOf: (frame: never) => Accounts) {
  let words: Accounts = {};
  await until('overrides of all pools', async () => {
    const frame = await read();
    words = isTarget(Number(frame.blockNumber)) ? wordsOf(frame as never) : {};
    return slotsOf(words) >= world.market.pools.length;
  });
  return words;
}

const resultOf = async (method: string, params?: unknown) =>
  ((await (await rpc.post(call(method, params))).json()) as { result: Record<string, unknown> }).result;
const lastOf = async (client: TextClient) => JSON.parse(client.texts.at(-1)?.text ?? '{}');

const PROGRAMS: Readonly<Record<string, () => Promise<Order[]>>> = {
  "Tycho's PriceLevelStreamBuilder": async () =>
    ordersOf(await lastBook(await connectTexts(wsUrl('pamm_price_levels')), strictReader(isTarget))),
  "Tycho's and CoW's reader of overrides": async () => {
    const client = await connectTexts(wsUrl('pamm_quote_stream'));
    return simulated(await liveWords(() => lastOf(client), wordsOfVenues));
  },
  // It calls without parameters.
  "KyberSwap's reader of overrides": async () =>
    simulated(await liveWords(() => resultOf('titan_getPammStateOverrides'), wordsOfVenues)),
  'the SDK, levels over JSON-RPC': async () => {
    let book: Book | null = null;
    await until('levels', async () => {
      book = lenientReader(await resultOf('titan_getPammPriceLevels', []), isTarget);
      return new Set(book?.map(([pamm]) => pamm)).size >= 2;
    });
    return ordersOf(book ?? []);
  },
  'the SDK, levels over its WebSocket': async () => {
    const client = await connectTexts(wsUrl('pamm_price_levels'));
    return ordersOf(await lastBook(client, (text) => lenientReader(JSON.parse(text), isTarget)));
  },
  'the SDK, quotes of all venues and of one': async () => {
    const { token0, token1, pools } = world.market;
    const amount = '0x16345785d8a0000';
    const orders = [
      ['titan_getPammQuote', [token0, token1, amount]],
      ['titan_getPammQuoteVenue', [pools[1]?.address, token1, token0, amount]],
    ] as const;
    const quotes = await Promise.all(orders.map(([method, params]) => resultOf(method, params)));
    return quotes.map((quote) => {
      for (const name of ['tokenIn', 'tokenOut', 'amountIn', 'amountOut', 'pamm', 'router'])
        expect(quote[name]).toMatch(/^0x/);
      const pool = poolAt(String(quote.router)) ?? expect.fail('a pool without a router is what to call');
      const [amountIn, amountOut] = [BigInt(String(quote.amountIn)), BigInt(String(quote.amountOut))];
      return { pool, zeroForOne: quote.tokenIn === token0, amountIn, amountOut };
    });
  },
  "the relayer's example programs, levels": async () => {
    expect(await resultOf('pamm_status', [])).toMatchObject({ ready: true });
    const client = await connectTexts(rpc.url());
    const { result } = await askWs(client, call('pamm_subscribe', ['subscribePriceLevelsV1', {}], 1));
    type Frame = { blockNumber: number; pamms: { pamm: string; pairs: { tokenIn: string; levels: Rung[] }[] }[] };
    const book = (): Book => {
      const { blockNumber, pamms } = (notesOf(client, result).at(-1)?.params?.result ?? { pamms: [] }) as Frame;
      if (!isTarget(Number(blockNumber))) return [];
      return pamms.flatMap(({ pamm, pairs }) => pairs.map(({ tokenIn, levels }) => [pamm, tokenIn, levels] as const));
    };
    await until('levels', () => new Set(book().map(([pamm]) => pamm)).size >= 2);
    return ordersOf(book());
  },
  "the relayer's example programs, overrides": async () => {
    const client = await connectTexts(rpc.url());
    const { result } = await askWs(client, call('pamm_subscribe', ['subscribeNewQuotesV1', { routers: [] }], 1));
    const last = async () => (notesOf(client, result).at(-1)?.params?.result ?? {}) as Record<string, unknown>;
    return simulated(await liveWords(last, ({ overrides }: { readonly overrides: Accounts }) => overrides));
  },
};

let price = 195n;
test.each(Object.keys(PROGRAMS))('%s gets from its handshake to swaps that fill', { timeout: 60_000 }, async (name) => {
  const { market } = world;
  price += 1n;
  // At its end no price holds: swaps need what is not on the chain.
  await market.builder.buildBlock();
  await waitForUpdates(world, await updateAll(market, () => price), batchesOf(api));
  const orders = (await PROGRAMS[name]?.()) ?? [];
  expect(orders.length).toBeGreaterThanOrEqual(2);
  const { trades } = await market.builder.buildBlock({
    trades: orders.map(({ pool, zeroForOne, amountIn }) =>
      market.trade(pool, { zeroForOne, amountSpecified: amountIn }),
    ),
  });
  for (const [index, { pool, zeroForOne, amountOut }] of orders.entries()) {
    const receipt = trades[index] ?? expect.fail('a trade has no receipt');
    expect(receipt.status).toBe('success');
    expect(paidBy(market, receipt, pool.address, zeroForOne)).toBeGreaterThanOrEqual(amountOut);
    expect(amountOut).toBeGreaterThan(0n);
  }
});
