import type { z } from 'zod';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { LiveConfig } from '../../config/live-schema.ts';
import {
  type LiveMarket,
  type LiveMarketOptions,
  priceAround,
  startLiveMarket,
} from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { Part } from '../../devnet/parts/part.ts';
import { type PartNode, type PartNodeOptions, startPartNode } from '../../devnet/parts/part-node.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { type QuoteApi, type QuoteApiOptions, quoteApi } from '../quotes/quote-api.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import type { Batch, Batches } from './live-world.ts';

export interface PartWorldOptions extends Pick<LiveMarketOptions, 'flatPools' | 'packedPools' | 'guards'> {
  readonly node?: PartNodeOptions;
}

/** A live market whose blocks are shown in parts, and the API over it with such a node as its source. */
export interface PartWorld {
  readonly market: LiveMarket;
  readonly node: PartNode;
  readonly api: QuoteApi;
  readonly config: ChainConfig;
  readonly served: readonly ServedPool[];
  /** A further API over the market. */
  open(options?: Partial<QuoteApiOptions>): QuoteApi;
  /** Quotes all pools; fails unless the response is 200. */
  batch(body?: object, of?: Batches): Promise<Batch>;
  /** Shows a part with new prices of these pools. Default: of all, of which each has another one. */
  price(hundredths: bigint, pools?: readonly LivePool[]): Promise<Part>;
  stop(): Promise<void>;
}

export const PART_MAX_AGE_MS = 600;

/** The source over a node. @param sockets whether it pushes parts */
export const partSource = ({ url, wsUrl }: PartNode, sockets = true): z.input<typeof LiveConfig> => ({
  sources: [{ kind: 'preconfirmed', rpcUrls: [url], wsUrls: sockets ? [wsUrl] : [], maxAgeMs: PART_MAX_AGE_MS }],
});

export async function startPartWorld(
  { flatPools = 2, packedPools = 2, guards, node: nodeOptions = {} }: PartWorldOptions = {},
  change: (node: PartNode) => Partial<ChainConfig> = () => ({}),
): Promise<PartWorld> {
  const market = await startLiveMarket({ flatPools, packedPools, ...(guards && { guards }) });
  const { chain, deployment, packed, pools } = market;
  const served = await Promise.all(
    pools.map(({ address, layout }) =>
      servedPool(chain, layout === 'flat' ? deployment : packed, address, 'mean', layout),
    ),
  );
  const node = await startPartNode(chain, nodeOptions);
  const config = chainConfig(chain.chainId, [node.url], {
    blockTimeMs: 2_000,
    wsUrls: [chain.rpcUrl.replace(/^http/, 'ws')],
    live: LiveConfig.parse(partSource(node)),
    ...change(node),
  });
  const open: PartWorld['open'] = (options) =>
    quoteApi({
      chain: config,
      directory: fixedDirectory(served),

      ...options,
    });
  const api = open();
  return {
    market,
    node,
    api,
    config,
    served,
    open,
    async batch(body = {}, of = api) {
      const { status, text } = await of.batch({ pools: pools.map(({ address }) => address), ...body });
      if (status !== 200) throw new Error(`the batch answered ${status}: ${text}`);
      return JSON.parse(text) as Batch;
    },
    async price(hundredths, priced = pools) {
      // The next part must be one of the block that prices are signed for.
      if (node.part().index + 1 === (nodeOptions.partsPerBlock ?? 10)) await node.nextPart();
      const { number, timeSecs } = node.part();
      for (const [index, { maker }] of priced.entries()) {
        const block = { number, timeSecs, slot: 0n };
        node.submit((await maker.sign(block, priceAround(hundredths + BigInt(index)))).transaction);
      }
      return node.nextPart();
    },
    async stop() {
      await api.stop();
      await node.stop();
      await market.close();
    },
  };
}
