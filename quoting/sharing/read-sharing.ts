import { createHash } from 'node:crypto';
import { Counter, type Registry } from 'prom-client';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { acquireLease, type Lease } from '../../runtime/lease/lease.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { connectFailFast, connectQueueing } from '../../runtime/redis-connections.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { ownUpdatesChannel } from '../live/own-update.ts';
import { blockClaims } from './block-claims.ts';
import { ChainReads, type ChainReadsDeps, TICK_MS } from './chain-reads.ts';
import { FORMAT } from './messages.ts';
import { LEASE_MS, RENEW_MS, SharedFeed, type SharedFeedDeps } from './shared-feed.ts';

export interface ReadSharingDeps {
  readonly redisUrl: string;
  /** `QUEUE_PREFIX`: processes with the same one share. */
  readonly prefix: string;
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** Redis counts as unreachable when a command takes longer. */
const COMMAND_TIMEOUT_MS = 500;
/** An outage of Redis ends after this long without a failure. */
const QUIET_MS = 5_000;

/**
 * Connects the processes that read the same chains. Redis passes their messages on and keeps none: it only keeps, for a
 * few seconds, which blocks were taken or read.
 */
export class ReadSharing {
  readonly #deps: ReadSharingDeps;
  readonly #redis;
  readonly #subscriber;
  readonly #claimed: Counter<'chain'>;
  readonly #chains: ChainReads[] = [];
  /** Who takes the messages of a channel. */
  readonly #listeners = new Map<string, (text: string) => void>();
  readonly #stopTicks: (() => void)[] = [];
  readonly #outage: OutageLog;
  #isClosed = false;

  constructor(deps: ReadSharingDeps) {
    const { redisUrl, metrics, logger } = deps;
    this.#deps = deps;
    this.#redis = connectFailFast(redisUrl, logger, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      // A pipelined command would wait until this process has decoded what it read.
      enableAutoPipelining: false,
    });
    this.#subscriber = connectQueueing(redisUrl, logger);
    this.#subscriber.on('message', (channel, text) => this.#take(channel, text));
    this.#subscriber.on('close', () => {
      for (const reads of this.#chains) reads.rejoin();
    });
    this.#outage = new OutageLog(logger, {
      begin: 'reads are not shared: each process reads chains by itself',
      end: 'reads are shared again',
      quietMs: QUIET_MS,
    });
    this.#claimed = new Counter({
      name: 'chain_blocks_read_for_all_total',
      help: 'Blocks at which this process read a chain for all others',
      labelNames: ['chain'],
      registers: [metrics],
    });
  }

  /** Starts to share the reads of a chain: those at committed heads, or those of blocks that are being built. */
  join(
    chain: ChainConfig,
    basis: 'committed' | 'live',
    { requested, onHead }: Pick<ChainReadsDeps, 'requested' | 'onHead'>,
  ): ChainReads {
    const name = `${nameOf(chain, this.#deps.prefix)}-${basis}`;
    const claims = blockClaims(this.#redis, (state) => `${name}:${state}`);
    const reads = new ChainReads({
      requested,
      onHead,
      onFailure: (error) => this.#fail(error),
      publish: (kind, text) => this.#publish(`${name}:${kind}`, text),
      claims: {
        ...claims,
        take: async (state) => {
          const taken = await claims.take(state);
          this.#outage.worked();
          if (taken === 'taken') this.#claimed.inc({ chain: chain.chainId });
          return taken;
        },
      },
    });
    this.#chains.push(reads);
    for (const kind of ['reads', 'requests'] as const) {
      this.#subscribe(`${name}:${kind}`, (text) => reads.take(kind, text));
    }
    this.#stopTicks.push(startRepeating(() => reads.tick(), TICK_MS));
    return reads;
  }

  /** Starts to share the sources of a chain's live prices, which one process reads for all. */
  shareFeed(chain: ChainConfig, feed: LiveFeed): void {
    this.#openFeed(chain, (channel, key) => {
      const request = { redis: this.#redis, keys: { lease: key }, durationMs: LEASE_MS };
      let lease: Lease | undefined;
      return {
        feed,
        publish: (text) => this.#publish(channel, text),
        hold: async () => {
          if (await lease?.renew()) return true;
          lease = await acquireLease(request);
          return lease !== undefined;
        },
      };
    });
  }

  /**
   * Starts to take the words of a chain's sources from the process that reads these for all. While there is none, this
   * process reads them for itself.
   */
  followFeed(chain: ChainConfig, feed: LiveFeed): void {
    this.#openFeed(chain, (_, key) => ({
      feed,
      hold: async () => {
        if ((await this.#redis.exists(key)) === 0) throw new Error('no process reads the sources for all');
        return false;
      },
    }));
  }

  #openFeed(chain: ChainConfig, depsOf: (channel: string, key: string) => SharedFeedDeps): void {
    const name = nameOf(chain, this.#deps.prefix);
    const channel = `${name}:words`;
    const shared = new SharedFeed(depsOf(channel, `${name}:source-reader`));
    this.#subscribe(channel, (text) => shared.take(text));
    this.#stopTicks.push(startRepeating(() => shared.tick(), RENEW_MS));
  }

  /** Passes on the quote updates of a chain that makers publish, to one listener at a time. @returns ends that */
  listen(chainId: number, listener: (text: string) => void): () => void {
    const channel = ownUpdatesChannel(this.#deps.prefix, chainId);
    this.#subscribe(channel, listener);
    return () => {
      this.#listeners.delete(channel);
      if (!this.#isClosed) void this.#subscriber.unsubscribe(channel).catch(this.#fail);
    };
  }

  stop(): void {
    this.#isClosed = true;
    for (const stop of this.#stopTicks) stop();
    this.#redis.disconnect();
    this.#subscriber.disconnect();
  }

  #subscribe(channel: string, listener: (text: string) => void): void {
    this.#listeners.set(channel, listener);
    void this.#subscriber.subscribe(channel).catch(this.#fail);
  }

  #publish(channel: string, text: string): void {
    if (this.#redis.status !== 'ready') return;
    void this.#redis.publish(channel, text).then(() => this.#outage.worked(), this.#fail);
  }

  /** Takes a message of another process. A malformed one changes nothing. */
  #take(channel: string, text: string): void {
    try {
      this.#listeners.get(channel)?.(text);
    } catch (error) {
      this.#deps.logger.warn({ err: error, channel }, 'a message of another process was not understood');
    }
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#isClosed) this.#outage.failed(error);
  };
}

/** Names shared reads. Other releases and configurations may read pools differently, so they have other names. */
function nameOf({ chainId, multicall3, deployments }: ChainConfig, prefix: string): string {
  const configuration = createHash('sha256').update(JSON.stringify({ multicall3, deployments })).digest('hex');
  return `${prefix}:reads-${FORMAT}-${chainId}-${configuration.slice(0, 12)}`;
}
