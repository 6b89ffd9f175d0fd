import { type Address, toHex } from 'viem';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { AccessLists } from '../../quoting/live/access-lists.ts';
import type { Frame } from '../../quoting/live/frame.ts';
import { FrameMerger } from '../../quoting/live/frame-merger.fixture.ts';
import { LiveHeads } from '../../quoting/live/live-heads.ts';
import { LiveReader, type LiveReaderDeps } from '../../quoting/live/live-reader.ts';
import { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { PRICE_SLOT, type SimulatedChain } from './simulated-chain.ts';

const BLOCK_TIME_MS = 1_000;
const MAX_AGE_MS = 5_000;

/** An API process that serves quotes of both bases, with one source of live prices of its own. */
export function startLiveProcess(chain: SimulatedChain, warmBudget: { readonly callsPerMinute: number }) {
  chain.hasSource = true;
  const directory = { table: async () => chain.table };
  const now = () => chain.now;
  const committed = chain.startProcess(warmBudget, directory);
  const merger = new FrameMerger(MAX_AGE_MS, now);
  const source = { id: 'source' };
  const top = () => committed.heads.top;
  const listeners = new Set<() => void>();
  const heads = new LiveHeads(
    { chainId: 7, blockTimeMs: BLOCK_TIME_MS, live: { maxAgeMs: MAX_AGE_MS, sources: [] } },
    {
      committed: committed.heads,
      feed: {
        state: () => merger.state(top()),
        onFrame: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      protectedAccounts: () => new Set(),
      logger: { warn: () => undefined },
      now,
    },
  );
  const accessLists = new AccessLists({
    // No node gives one: all pools are read live.
    rpc: { mayHave: () => false, requestOptional: () => Promise.reject(new Error('no lists')) },
    reserve: () => true,
    readTimeoutMs: 1_000,
    logger: { info: () => undefined, warn: () => undefined },
    now,
  });
  const { snapshots } = committed;
  const node = { isSlow: false };
  const pools: LiveReaderDeps['reader'] = {
    ...committed.reader,
    prices: async (head, read) => {
      if (node.isSlow && head.block.pending) throw new RpcFailure('timeout', 'the node is slow');
      return committed.reader.prices(head, read);
    },
  };
  const feed = { holders: () => null };
  const reader = new LiveReader({ reader: pools, committed: snapshots, heads, feed, accessLists, reuseMs: 2_500, now });
  const requested = new RequestedPools({ warmMs: 5_000, now, under: committed.requested });
  const live = chain.serve({ heads, requested, reader, committed: snapshots, warmBudget, directory, keepMs: 5_000 });
  let last: Frame | undefined;
  /** The source sends its last frame again, as sources do several times a second. */
  const renew = (): void => {
    if (last) merger.take(source, last, top());
    for (const listener of listeners) listener();
  };
  return {
    committed,
    live,
    renew,
    /** While it is slow, it reads no pool in the block being built: quotes are committed. */
    node,
    /** The source says which pools have which live prices in the block after the head: no others have any. */
    frame(prices: ReadonlyMap<Address, bigint>): void {
      const words = (price: bigint) => new Map([[PRICE_SLOT, toHex(price, { size: 32 })]]);
      const venues = new Map([...prices].map(([pool, price]) => [pool, new Map([[pool, words(price)]])]));
      last = { blockNumber: chain.head.block.number + 1n, timestamp: null, venues, isComplete: true };
      renew();
    },
    async stop(): Promise<void> {
      await Promise.all([committed.warmer.close(), live.warmer.close()]);
    },
  };
}
