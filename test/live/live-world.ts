import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, erc20Abi, parseEventLogs, type TransactionReceipt } from 'viem';
import { expect, vi } from 'vitest';
import type { z } from 'zod';
import type { BatchResponse, Quote } from '../../api/quotes/quote-schema.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import {
  type LiveMarket,
  type LiveMarketOptions,
  priceAround,
  startLiveMarket,
} from '../../devnet/live/live-market.fixture.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { type QuoteApi, type QuoteApiOptions, quoteApi } from '../quotes/quote-api.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { type StreamApiOptions, startStreamApi } from '../stream/stream-api.ts';

export type Batch = z.infer<typeof BatchResponse>;
export type LiveQuote = z.infer<typeof Quote>;

/** What answers batches. */
export type Batches = Pick<QuoteApi, 'batch'>;

/** A live market, and the API over it with the builder as its source. */
export interface LiveWorld {
  readonly market: LiveMarket;
  readonly api: QuoteApi;
  /** A further API over the market. */
  open(options: Partial<QuoteApiOptions>): QuoteApi;
  readonly config: ChainConfig;
  readonly served: readonly ServedPool[];
  /** Quotes all pools; fails unless the response is 200. */
  batch(body?: object, of?: Batches): Promise<Batch>;
  stop(): Promise<void>;
}

export const BLOCK_MS = 12_000;
const TIMEOUT_MS = 60_000;

export async function startLiveWorld(
  options: LiveMarketOptions = {},
  live: (market: LiveMarket) => z.input<typeof LiveConfig> = builderSource,
): Promise<LiveWorld> {
  const market = await startLiveMarket(options);
  const { chain, deployment, packed, pools } = market;
  const served = await Promise.all(
    pools.map(({ address, layout }) =>
      servedPool(chain, layout === 'flat' ? deployment : packed, address, 'mean', layout),
    ),
  );
  const config = chainConfig(chain.chainId, [chain.rpcUrl], {
    blockTimeMs: BLOCK_MS,
    wsUrls: [chain.rpcUrl.replace(/^http/, 'ws')],
    live: LiveConfig.parse(live(market)),
  });
  const open = (change: Partial<QuoteApiOptions>) =>
    quoteApi({ chain: config, directory: fixedDirectory(served), ...change });
  const api = open({});
  const batch: LiveWorld['batch'] = async (body = {}, of = api) => {
    const { status, text } = await of.batch({ pools: pools.map(({ address }) => address), ...body });
    if (status !== 200) throw new Error(`the batch answered ${status}: ${text}`);
    return JSON.parse(text) as Batch;
  };
  return {
    market,
    api,
    open,
    config,
    served,
    batch,
    async stop() {
      await api.stop();
      await market.close();
    },
  };
}

/** A stream over the market that reads its sources by itself, or as `change` says. */
export const startLiveStream = ({ config, served }: LiveWorld, change: Partial<StreamApiOptions> = {}) =>
  startStreamApi({ chain: config, directory: fixedDirectory(served), ...change });

/** Sends batches to a server. */
export const batchesOf = (api: { readonly base: string }): Batches => ({
  async batch(body) {
    const asked = { body: JSON.stringify(body), timeoutMs: TIMEOUT_MS };
    const { status, text, headers } = await sendRequest(`${api.base}/bid_ask/batch`, asked);
    return { status, text, headers: new Headers(headers as Record<string, string>) };
  },
});

export const builderSource = ({ builder }: LiveMarket): z.input<typeof LiveConfig> => ({
  sources: [{ kind: 'builder-overrides', wsUrls: [builder.builderStreamUrl], rpcUrls: [builder.builderRpcUrl] }],
});

export const relayerSource = ({ builder }: LiveMarket): z.input<typeof LiveConfig> => ({
  sources: [{ kind: 'relayer', wsUrls: [builder.relayerStreamUrl], rpcUrls: [builder.relayerRpcUrl] }],
});

/** Gives all pools new prices for the block that is being built. @param hundredths of token1 per token0 */
export const updateAll = ({ update, pools }: LiveMarket, hundredths: () => bigint): Promise<QuoteUpdate[]> =>
  Promise.all(pools.map((pool) => update(pool, priceAround(hundredths()))));

/** Waits until the API quotes with these updates. */
export async function waitForUpdates(
  { batch, market }: LiveWorld,
  updates: readonly QuoteUpdate[],
  of?: Batches,
): Promise<Batch> {
  const wanted = updates.flatMap(({ words }) => Object.entries(words));
  for (let tries = 0; tries < 1_000; tries += 1) {
    const answer = await batch({ include: 'stateOverride' }, of);
    const words = answer.overrides?.stateOverride[market.registry]?.stateDiff;
    if (words && wanted.every(([slot, word]) => words[slot] === word)) return answer;
    await sleep(20);
  }
  const { results, overrides } = await batch({ include: 'stateOverride' }, of);
  const kinds = results.map((result) => ('quote' in result ? result.quote.basis?.kind : result.error.error));
  throw new Error(
    `the API did not take the frame of the builder: ${kinds} ${JSON.stringify(overrides?.blockOverrides)}`,
  );
}

/**
 * Waits until the API has read all pools in the block being built, with their depth: those that nodes do not give in
 * time, as on a busy machine, are of the last block.
 */
export const waitForLive = ({ batch }: LiveWorld, of?: Batches): Promise<Batch> =>
  vi.waitFor(async () => {
    const answer = await batch({}, of);
    for (const result of answer.results) expect(result).toMatchObject({ quote: { basis: { kind: 'live' } } });
    return answer;
  });

/** What a pool paid in a trade, by the transfers of the token. */
export function paidBy(
  { token0, token1 }: LiveMarket,
  { logs }: TransactionReceipt,
  pool: Address,
  zeroForOne: boolean,
) {
  const token = zeroForOne ? token1 : token0;
  const transfers = parseEventLogs({ abi: erc20Abi, logs: [...logs], eventName: 'Transfer' });
  return transfers
    .filter(({ address, args }) => address.toLowerCase() === token && args.from.toLowerCase() === pool)
    .reduce((sum, { args }) => sum + args.value, 0n);
}
