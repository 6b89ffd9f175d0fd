import { type Address, createPublicClient, http } from 'viem';
import { expect } from 'vitest';
import type { PendingBlock } from '../../devnet/live/pending-block.ts';
import { swapAtHead } from '../live/viem-swap.ts';
import { connectTexts, type TextClient } from './levels-client.ts';
import {
  type Accounts,
  type Book,
  hexBlock,
  integerBlock,
  lenientReader,
  relayerBook,
  slotsOf,
  strictReader,
  wordsOfVenues,
} from './program-readers.ts';
import { askWs, call, notesOf, type rpcClient } from './rpc-client.ts';

/*
 * Scripts for each program of the table in docs/use/takers.md (prop-amm-face.ts has the last): each does what the
 * public program does, from the handshake to the swaps that it decides on, with nothing but the URL set.
 */

/** What a program trades in. */
interface TakerPool {
  readonly address: Address;
  readonly quoter: Address;
}

/** Where programs run. */
export interface TakerWorld {
  /** With live prices, all of one pair. */
  readonly pools: readonly TakerPool[];
  readonly token0: Address;
  readonly token1: Address;
  readonly nodeUrl: string;
  /** `…/public/v1/evm/{chain_id}` */
  readonly base: string;
  readonly rpc: ReturnType<typeof rpcClient>;
  /** Time between two tries of a program. */
  readonly pollMs: number;
  /** The block that is being built. */
  block(): Promise<Pick<PendingBlock, 'number' | 'timeSecs'>>;
}

/** A swap that a program decides on. */
export interface Order {
  readonly pool: Address;
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
  /** What the program counts on. */
  readonly amountOut: bigint;
}

const AMOUNT = 10n ** 17n;

/** Tries until there is something. */
export async function found<T>(
  { pollMs }: Pick<TakerWorld, 'pollMs'>,
  what: string,
  find: () => Promise<T | null>,
): Promise<T> {
  let result: T | null = null;
  const isFound = async () => {
    result = await find();
    return result !== null;
  };
  await expect.poll(isFound, { timeout: 30_000, interval: pollMs, message: what }).toBe(true);
  return result as T;
}

/** The middle rung of a side of each pool that a book has. */
function ordersOf({ pools, token0 }: TakerWorld, book: Book): Order[] {
  return pools.flatMap(({ address }, index) => {
    const sides = book.filter(([pamm, , rungs]) => pamm.toLowerCase() === address && rungs.length > 0);
    const [, tokenIn, rungs] = sides[index % Math.max(1, sides.length)] ?? [];
    const rung = rungs?.[Math.floor(rungs.length / 2)];
    if (!rung) return [];
    const [amountIn, amountOut] = [BigInt(rung.amountIn), BigInt(rung.amountOut)];
    return [{ pool: address, zeroForOne: tokenIn?.toLowerCase() === token0, amountIn, amountOut }];
  });
}

/** Waits for a book of the block being built that has two pools. */
const bookOrders = (world: TakerWorld, read: (target: bigint) => Promise<Book | null>) =>
  found(world, 'levels of two pools', async () => {
    const orders = ordersOf(world, (await read((await world.block()).number)) ?? []);
    return orders.length >= 2 ? orders : null;
  });

/**
 * Waits for words of all pools for the block being built, and simulates swaps at the head under them, as solvers do:
 * again where a block came meanwhile.
 */
const simulated = (
  world: TakerWorld,
  read: () => Promise<Readonly<Record<string, unknown>>>,
  wordsOf: (frame: never) => Accounts,
  blockOf = integerBlock,
) =>
  found(world, 'swaps under overrides of all pools', async () => {
    const [frame, { number, timeSecs }] = [await read(), await world.block()];
    const words = blockOf(frame.blockNumber) === number ? wordsOf(frame as never) : {};
    if (slotsOf(words) < world.pools.length) return null;
    const stateOverride = Object.fromEntries(
      Object.entries(words).map(([account, stateDiff]) => [account, { stateDiff }]),
    );
    const blockOverrides = { number: `0x${number.toString(16)}`, time: `0x${timeSecs.toString(16)}` };
    const node = createPublicClient({ transport: http(world.nodeUrl) });
    const orders = world.pools.map(async (pool, index) => {
      const zeroForOne = index % 2 === 0;
      const swap = await swapAtHead(node, { pool, zeroForOne, amountIn: AMOUNT }, { stateOverride, blockOverrides });
      return swap && { pool: pool.address, zeroForOne, amountIn: AMOUNT, amountOut: swap.output };
    });
    const filled = (await Promise.all(orders)).filter((order) => order !== null);
    if (filled.length === orders.length) return filled;
    return (await world.block()).number > number ? null : expect.fail('a swap under overrides reverts');
  });

async function resultOf({ rpc }: TakerWorld, method: string, params?: unknown): Promise<Record<string, unknown>> {
  const { result } = (await (await rpc.post(call(method, params))).json()) as { result?: Record<string, unknown> };
  return result ?? {};
}

const connect = ({ base }: TakerWorld, path: string) => connectTexts(`${base}/ws/${path}`);
const lastText = ({ texts }: TextClient) => texts.at(-1)?.text ?? '{}';

/** A connection of a relayer's client, and the last frame that a subscription sent. */
async function subscribed({ rpc }: TakerWorld, kind: string) {
  const client = await connectTexts(rpc.url());
  const { result } = await askWs(client, call('pamm_subscribe', [kind, {}], 1));
  return async () => (notesOf(client, result).at(-1)?.params?.result ?? {}) as Record<string, unknown>;
}

export const PROGRAMS: Readonly<Record<string, (world: TakerWorld) => Promise<readonly Order[]>>> = {
  "Tycho's PriceLevelStreamBuilder": async (world) => {
    const [client, read] = [await connect(world, 'pamm_price_levels'), strictReader()];
    return bookOrders(world, async (target) => (client.texts.length === 0 ? null : read(lastText(client), target)));
  },
  "Tycho's and CoW's readers of overrides": async (world) => {
    const client = await connect(world, 'pamm_quote_stream');
    return simulated(world, async () => JSON.parse(lastText(client)), wordsOfVenues);
  },
  // It calls without parameters.
  "KyberSwap's reader of overrides": (world) =>
    simulated(world, () => resultOf(world, 'titan_getPammStateOverrides'), wordsOfVenues, hexBlock),
  'the SDK propamm, levels over JSON-RPC': (world) =>
    bookOrders(world, async (target) => lenientReader(await resultOf(world, 'titan_getPammPriceLevels', []), target)),
  'the SDK propamm, levels over its WebSocket': async (world) => {
    const client = await connect(world, 'pamm_price_levels');
    return bookOrders(world, async (target) => lenientReader(JSON.parse(lastText(client)), target));
  },
  'the SDK propamm, quotes of all venues and of one': (world) =>
    found(world, 'two quotes', async () => {
      const { token0, token1, pools } = world;
      const amount = `0x${AMOUNT.toString(16)}`;
      const asked = [
        ['titan_getPammQuote', [token0, token1, amount]],
        ['titan_getPammQuoteVenue', [pools[1]?.address, token1, token0, amount]],
      ] as const;
      const quotes = await Promise.all(asked.map(([method, params]) => resultOf(world, method, params)));
      // No pool has a price right after a block.
      if (quotes.some(({ amountOut }) => amountOut === undefined)) return null;
      return quotes.map((quote) => {
        for (const name of ['tokenIn', 'tokenOut', 'amountIn', 'amountOut', 'pamm', 'router'])
          expect(quote[name]).toMatch(/^0x/);
        const pool = pools.find(({ address }) => address === quote.router);
        if (!pool) return expect.fail('a pool without a router is what to call');
        const [amountIn, amountOut] = [BigInt(String(quote.amountIn)), BigInt(String(quote.amountOut))];
        return { pool: pool.address, zeroForOne: quote.tokenIn === token0, amountIn, amountOut };
      });
    }),
  "the relayer's levels, stream and status: levels over HTTP": (world) =>
    bookOrders(world, async (target) => relayerBook(await resultOf(world, 'pamm_getPammPriceLevels', []), target)),
  "the relayer's levels, stream and status: levels over its WebSocket": async (world) => {
    const last = await subscribed(world, 'subscribePriceLevelsV1');
    return bookOrders(world, async (target) => relayerBook(await last(), target));
  },
  "the relayer's levels, stream and status: overrides": async (world) => {
    expect(await resultOf(world, 'pamm_status', [])).toMatchObject({ ready: true });
    const last = await subscribed(world, 'subscribeNewQuotesV1');
    return simulated(world, last, ({ overrides }: { readonly overrides: Accounts }) => overrides);
  },
};
