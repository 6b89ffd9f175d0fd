import { Registry } from 'prom-client';
import { followQuotes } from '../../api/latest/chain-quotes.ts';
import { FrameFeeds } from '../../api/levels/frame-feed.ts';
import { PriceLevels } from '../../api/levels/price-levels.ts';
import { unknownGas, unknownShares } from '../../api/levels/unknown-extras.fixture.ts';
import { startStreams } from '../../api/stream/streams.ts';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type Outside, openChain } from '../../quoting/open-chain.ts';
import type { BasisQuotes } from '../../quoting/open-quotes.ts';
import type { PoolTable, ServedPool } from '../../quoting/pools/pool-directory.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Machine } from './machine.ts';
import { openOwnUpdates } from './own-updates-source.ts';
import { createVirtualReader } from './pool-reader.ts';
import type { VirtualNode } from './virtual-node.ts';
import type { VirtualRedis } from './virtual-redis.ts';
import type { VirtualSource } from './virtual-source.ts';
import type { VirtualTime } from './virtual-time.ts';
import { PREFIX, QUOTES } from './world-config.ts';

/** What a process of the API runs in. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly config: ChainConfig;
  readonly table: PoolTable;
  readonly redis: VirtualRedis;
  readonly nodes: readonly VirtualNode[];
  /** By their places in the configuration. */
  readonly sources: readonly VirtualSource[];
  /** Takes what a process logs as an error. */
  readonly onError: (text: string) => void;
}

/** A process of the API, with all that serves live quotes. To be started in the context of its machine. */
export class ApiProcess {
  readonly machine: Machine;
  readonly committed: BasisQuotes;
  readonly live: BasisQuotes;
  readonly levels: PriceLevels;
  readonly pools: readonly ServedPool[];
  readonly streams: ReturnType<typeof startStreams>;
  /** When budgets gave calls to scheduled reads, by basis of the budget. */
  readonly calls: Readonly<Record<'committed' | 'live', number[]>> = { committed: [], live: [] };
  #openSources = 0;

  constructor(machine: Machine, surroundings: Surroundings) {
    this.machine = machine;
    const { time, config, table, redis, nodes, sources } = surroundings;
    const { chainId, blockTimeMs } = config;
    this.pools = table.ofChain(chainId);
    const logger = loggerOf(machine.name, surroundings.onError);
    const directory = { table: async () => table };
    const now = () => performance.now();
    const sharing = new ReadSharing({
      redisUrl: '',
      prefix: PREFIX,
      metrics: new Registry(),
      logger,
      now,
      connect: () => redis.connect(machine),
    });
    const openSource: Outside['openSource'] = (source, onFrame) => {
      const place = config.live?.sources.indexOf(source) ?? -1;
      const listen = (listener: (text: string) => void) => sharing.listen(chainId, listener);
      const opened =
        source.kind === 'own'
          ? openOwnUpdates({ blockTimeMs, heads: chain.heads, listen, onFrame })
          : (sources[place] as VirtualSource).open(machine, onFrame);
      this.#openSources += 1;
      return {
        close: () => {
          this.#openSources -= 1;
          opened.close();
        },
      };
    };
    const nodeOf = (url: string) => nodes[config.wsUrls?.indexOf(url) ?? -1] as VirtualNode;
    const chain = openChain(config, {
      quotes: QUOTES,
      directory,
      countCall: () => undefined,
      sharing,
      logger,
      outside: {
        openRpc: () => new ChainRpc(nodes.map((node) => node.endpoint())),
        openSocket: ({ url, onHead }) => nodeOf(url).openSocket(machine, onHead),
        openSource,
        createReader: createVirtualReader,
      },
    });
    const { liveQuotes } = chain;
    if (!liveQuotes) throw new Error('the chain has no sources');
    this.committed = chain;
    this.live = liveQuotes;
    for (const basis of ['committed', 'live'] as const) {
      const { budget } = this[basis].schedule;
      const reserve = budget.reserve.bind(budget);
      budget.reserve = (kind) => {
        const isReserved = reserve(kind);
        if (isReserved) this.calls[basis].push(time.now);
        return isReserved;
      };
    }
    const latest = followQuotes(new Map([[chainId, chain]]), directory);
    const sockets = { countTermination: () => undefined };
    this.streams = startStreams({ latest, sockets, metrics: new Registry() });
    this.levels = new PriceLevels({
      chain: { ...chain, ...unknownGas },
      shares: unknownShares,
      latest: latest.get(chainId) as NonNullable<ReturnType<typeof latest.get>>,
      choose: async () => table.ofChain(chainId),
      feeds: new FrameFeeds(logger, now),
      now,
      stamp: async () => Date.now(),
    });
  }

  /** Whether it reads sources now, for all or for itself. */
  get isReading(): boolean {
    return !this.machine.isDead && !this.machine.isStopped && this.#openSources > 0;
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
