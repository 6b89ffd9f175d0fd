import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import { OtherPart } from '../../chain/part-view.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { partSource } from '../../config/live-schema.ts';
import type { LiveBlock, LiveBlocks } from '../../quoting/live/live-blocks.ts';
import { atNewestPart, type NewestPartDeps, readNewestPart } from '../../quoting/parts/newest-part.ts';
import { SeenParts } from '../../quoting/parts/seen-parts.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import { createQuoteReader, type QuotedCurve, type QuoteReaderDeps } from '../quote-reader.ts';
import { readQuotes } from './read-quotes.ts';

/** What pools quoted in the block that was being built. */
export interface LiveRead {
  /** The committed block that it was built on. */
  readonly number: bigint;
  /** Absent of a pool that was not read. */
  readonly quotes: ReadonlyMap<Address, LiveQuote>;
}

/** Null: the pool did not trade. `committed`: no state override makes its price. */
export type LiveQuote = QuotedCurve | null | 'committed';

/**
 * Reads pools in the block that is being built, however long the calls take; null without one. Never throws for nodes.
 *
 * @param until milliseconds of the clock `now`: what was first seen later is left out
 */
export type ReadLive = (pools: readonly ServedPool[], until: number) => Promise<LiveRead | null>;

export interface LiveQuotesDeps extends QuoteReaderDeps, Pick<NewestPartDeps, 'divergence' | 'now'> {
  /** Judges parts. Default: by those of these reads alone. */
  readonly seen?: SeenParts | undefined;
  /** Absent on a chain without a source of state overrides. */
  readonly live?: LiveBlocks | undefined;
  /** Counts calls to nodes that follow parts. */
  readonly countCall?: CountChainCall | undefined;
  readonly reserve: () => boolean;
  /** Longest wait for a call that shows the part. Default: 500 ms. */
  readonly readMs?: number;
}

const READ_MS = 500;
/** Any other call at the tag `pending` may take this many times as long. */
const TIMEOUT_FACTOR = 4;

/** Makes what reads pools in the block being built; undefined for a chain without a source of live prices. */
export function createLiveQuotes({ countCall, readMs = READ_MS, ...deps }: LiveQuotesDeps): ReadLive | undefined {
  const { chain, live, divergence } = deps;
  const source = partSource(chain.live);
  if (source) {
    const isLast = (node: string) => divergence?.isDivergent(node) === true;
    const nodes = { chainId: chain.chainId, rpcUrls: source.rpcUrls, isLast };
    return nullOnFailure(
      readParts({ ...deps, readMs, parts: openChainRpc(nodes, TIMEOUT_FACTOR * readMs, countCall) }),
    );
  }
  return live && nullOnFailure(readOverrides({ ...deps, live }));
}

const nullOnFailure =
  (read: ReadLive): ReadLive =>
  (...args) =>
    read(...args).catch((error: unknown) => {
      if (error instanceof RpcFailure) return null;
      throw error;
    });

function readOverrides({ live, reserve, now, ...deps }: LiveQuotesDeps & { readonly live: LiveBlocks }): ReadLive {
  const readQuote = createQuoteReader(deps);
  return async (pools, until) => {
    const head = await live.now();
    if (!head || now() > until) return null;
    const read = await readQuotes(readQuote, { ...head, reserve }, pools);
    const ofOverrides = ([address, quote]: [Address, QuotedCurve | null]) =>
      [address, quote?.hasLivePrice ? quote : 'committed'] as const;
    return { number: head.block.number, quotes: new Map([...read].map(ofOverrides)) };
  };
}

function readParts({
  chain,
  rpc,
  parts: nodes,
  seen = new SeenParts(),
  divergence,
  reserve,
  readMs,
  now,
  ...deps
}: LiveQuotesDeps & { readonly parts: ChainRpc; readonly readMs: number }): ReadLive {
  const { chainId, multicall3 } = chain;
  const parts = { rpc: nodes, chainId, multicall3 };
  const readQuote = createQuoteReader({ ...deps, chain, rpc: nodes });
  return async (pools, until) => {
    const head = await readNewestPart({ rpc, parts, seen, divergence, readMs, now });
    if (!head || head.block.pending.receivedAt > until) return null;
    const { endpoint } = head;
    const quotes = new Map<Address, QuotedCurve | null>();
    let { blockNumber } = head.block.pending;
    const readLeft = async (block: LiveBlock['block']) => {
      let newer: OtherPart | undefined;
      const noting: typeof readQuote = (...args) =>
        readQuote(...args).catch((error: unknown) => {
          if (!(error instanceof OtherPart)) throw error;
          if (now() <= until) newer = error;
          return undefined;
        });
      blockNumber = block.pending.blockNumber;
      const left = pools.filter(({ address }) => !quotes.has(address));
      for (const [address, quote] of await readQuotes(noting, { block, endpoint, reserve }, left))
        quotes.set(address, quote);
      // All are of one block: the rest is not read in the next one.
      if (newer && (quotes.size === 0 || newer.view.blockNumber === blockNumber)) throw newer;
    };
    await atNewestPart(head.block, { seen, now }, readLeft).catch((error: unknown) => {
      if (!(error instanceof OtherPart)) throw error;
    });
    return { number: blockNumber - 1n, quotes };
  };
}
