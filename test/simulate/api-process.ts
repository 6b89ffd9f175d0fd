import { Registry } from 'prom-client';
import { followQuotes } from '../../api/latest/chain-quotes.ts';
import { FrameFeeds } from '../../api/levels/frame-feed.ts';
import { PriceLevels } from '../../api/levels/price-levels.ts';
import type { LevelsChain } from '../../api/levels/write-levels.ts';
import { startStreams } from '../../api/stream/streams.ts';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import { newPushState, nextPushed } from '../../chain/head-feed/next-pushed.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type ChainContext, chainBounds } from '../../quoting/chain-bounds.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import type { LiveFeed } from '../../quoting/live/live-feed.ts';
import { openHeads } from '../../quoting/open-heads.ts';
import { type ChainQuotes, openQuotes } from '../../quoting/open-quotes.ts';
import type { PoolTable, ServedPool } from '../../quoting/pools/pool-directory.ts';
import { protectedAccounts } from '../../quoting/pools/protected-accounts.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import type { Logger } from '../../runtime/logger.ts';
import { openOwnUpdates } from './own-updates-source.ts';
import { createVirtualReader } from './pool-reader.ts';
import type { VirtualBlock } from './virtual-chain.ts';
import type { VirtualNode } from './virtual-node.ts';
import type { VirtualRedis } from './virtual-redis.ts';
import type { VirtualSource } from './virtual-source.ts';
import type { Machine, VirtualTime } from './virtual-time.ts';
import { PREFIX } from './world-config.ts';

/** What a process of the API runs in. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly config: ChainConfig;
  readonly table: PoolTable;
  readonly redis: VirtualRedis;
  readonly nodes: readonly VirtualNode[];
  /** By their places in the configuration. */
  readonly sources: readonly VirtualSource[];
  readonly canTrace: () => boolean;
  /** Takes what a process logs as an error. */
  readonly onError: (text: string) => void;
}

/** A process of the API, with all that serves live quotes. To be started in the context of its machine. */
export class ApiProcess {
  readonly feed: LiveFeed;
  readonly committed: ChainQuotes;
  readonly live: ChainQuotes;
  readonly levels: PriceLevels;
  readonly pools: readonly ServedPool[];
  readonly streams: ReturnType<typeof startStreams>;
  /** When budgets gave calls to scheduled reads, by basis of the budget. */
  readonly calls: Readonly<Record<'committed' | 'live', number[]>> = { committed: [], live: [] };

  constructor(
    readonly machine: Machine,
    surroundings: Surroundings,
  ) {
    const { time, config, table, redis, nodes, sources, canTrace } = surroundings;
    const { chainId, blockTimeMs } = config;
    this.pools = table.ofChain(chainId);
    const logger = loggerOf(machine.name, surroundings.onError);
    const directory = { table: async () => table };
    const now = () => performance.now();
    const wallClock = () => Date.now();
    const sharing = new ReadSharing({
      redisUrl: '',
      prefix: PREFIX,
      metrics: new Registry(),
      logger,
      now,
      connect: () => redis.connect(machine),
    });
    const bounds = chainBounds(config, { rpcTimeoutMs: 3_000, warmSecs: 30 });
    const rpc = new ChainRpc(nodes.map((node) => node.endpoint()));
    const chain: ChainContext = { config, bounds, rpc, countCall: () => undefined, logger, now, wallClock };
    const heads = openHeads(chain, {
      protectedAccounts: protectedAccounts(config, directory),
      openSource: (source, onFrame) => {
        const place = config.live?.sources.indexOf(source) ?? -1;
        const listen = (listener: (text: string) => void) => sharing.listen(chainId, listener);
        const close =
          source.kind === 'own'
            ? openOwnUpdates({ blockTimeMs, heads: heads.committed, listen, onFrame, canTrace })
            : (sources[place] as VirtualSource).open(machine, onFrame);
        return { close };
      },
    });
    if (!heads.live) throw new Error('the chain has no sources');
    this.feed = heads.live.feed;
    const estimates = new ChainDepthEstimates(now);
    const deps = {
      ...chain,
      directory,
      isFunded: () => true,
      estimates,
      observer: {},
      sharing,
      createReader: createVirtualReader,
    };
    sharing.shareHeads(config, heads.committed);
    const takeHead = (block: BlockHeader) => heads.committed.pushShared({ block, endpoint: null });
    this.committed = openQuotes(deps, heads.committed, takeHead);
    sharing.shareFeed(config, this.feed);
    const live = { heads: heads.live.heads, committed: this.committed };
    this.live = openQuotes(deps, heads.live.heads, () => undefined, live);
    for (const basis of ['committed', 'live'] as const) {
      const { budget } = this[basis].schedule;
      const reserve = budget.reserve.bind(budget);
      budget.reserve = (kind) => {
        const isReserved = reserve(kind);
        if (isReserved) this.calls[basis].push(time.now);
        return isReserved;
      };
    }
    const chains = new Map([[chainId, { ...config, ...this.committed, liveQuotes: this.live }]]);
    const latest = followQuotes(chains, directory);
    const sockets = { countTermination: () => undefined };
    this.streams = startStreams({ latest, sockets, metrics: new Registry() });
    this.levels = new PriceLevels({
      chain: { ...config, ...this.committed, liveQuotes: this.live, estimates } as unknown as LevelsChain,
      latest: latest.get(chainId) as NonNullable<ReturnType<typeof latest.get>>,
      choose: async () => table.ofChain(chainId),
      feeds: new FrameFeeds(logger, now),
      now,
      wallClock,
    });
    let pushed = newPushState(nodes.length, now());
    const push = (source: number, { number, hash, parent, timestamp }: VirtualBlock) => {
      const block = { number, hash, timestamp, parents: [parent] };
      const [state, { isNews }] = nextPushed(
        pushed,
        { kind: 'pushed', source, block, wallMs: Date.now() },
        now(),
        blockTimeMs,
      );
      pushed = state;
      if (isNews) heads.committed.push({ block, endpoint: null });
    };
    for (const [source, node] of nodes.entries()) node.onHead(machine, (block) => push(source, block));
  }

  /** Whether it reads sources now, for all or for itself. */
  get isReading(): boolean {
    return !this.machine.isDead && !this.machine.isStopped && this.feed.isReading;
  }
}

/** A logger that passes on errors alone. */
function loggerOf(process: string, onError: (text: string) => void): Logger {
  const nothing = () => undefined;
  const error = (fields: { readonly err?: unknown }, text: string) => {
    const { err } = fields;
    onError(`${process}: ${text}: ${err instanceof Error ? (err.stack ?? err.message) : String(err)}`);
  };
  const logger = { info: nothing, warn: nothing, debug: nothing, trace: nothing, error, child: () => logger };
  return logger as unknown as Logger;
}
