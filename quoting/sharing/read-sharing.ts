import { createHash, randomUUID } from 'node:crypto';
import { Counter, type Registry } from 'prom-client';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { acquireLease } from '../../runtime/lease/lease.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { ownUpdatesChannel } from '../live/own-update.ts';
import { namedTarget } from '../live/target-block.ts';
import type { SealedPools } from '../parts/divergence.ts';
import type { SealedFees } from '../parts/next-lag.ts';
import type { OpenPartHeads } from '../parts/open-part-heads.ts';
import { ChainReads, type ChainReadsDeps } from './chain-reads.ts';
import { LEASE_MS, RENEW_MS } from './feed-schedule.ts';
import { connectBus, MessageBus } from './message-bus.ts';
import {
  FORMAT,
  parseCostly,
  parseFees,
  parsePart,
  parseSealed,
  writeCostly,
  writeFees,
  writePart,
  writeSealed,
} from './messages.ts';
import { NeededTicks } from './needed-ticks.ts';
import { redisClaims } from './redis-claims.ts';
import { SharedFeed, type SharedFeedDeps } from './shared-feed.ts';
import { SharedHeads } from './shared-heads.ts';

export interface ReadSharingDeps {
  readonly redisUrl: string;
  /** `QUEUE_PREFIX`: processes with the same one share. */
  readonly prefix: string;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly now: Clock;
  /** Connects to Redis. Default: over the network. */
  readonly connect?: typeof connectBus;
}

/**
 * Connects the processes that read the same chains. Redis passes their messages on and keeps none: it only keeps, for a
 * few seconds, which blocks were taken or read, and who reads live sources.
 */
export class ReadSharing {
  readonly #prefix: string;
  readonly #now: Clock;
  readonly #bus: MessageBus;
  readonly #claimed: Counter<'chain'>;
  readonly #chains: ChainReads[] = [];
  readonly #stopTicks: (() => void)[] = [];

  constructor({ redisUrl, prefix, metrics, logger, now, connect = connectBus }: ReadSharingDeps) {
    this.#prefix = prefix;
    this.#now = now;
    this.#bus = new MessageBus(connect(redisUrl, logger), logger, () => {
      for (const reads of this.#chains) reads.missed();
    });
    this.#claimed = new Counter({
      name: 'chain_blocks_read_for_all_total',
      help: 'Blocks at which this process read a chain for all others',
      labelNames: ['chain'],
      registers: [metrics],
    });
  }

  /** Starts to tell other processes of a chain's heads, and to hear of theirs. */
  shareHeads(chain: ChainConfig, heads: HeadTracker<ReportedHead>): void {
    const channel = `${nameOf(chain, this.#prefix)}:heads`;
    const publish = (text: string) => this.#bus.publish(channel, text);
    const shared = new SharedHeads({ heads, target: namedTarget(heads), publish });
    this.#bus.subscribe(
      channel,
      (text) => shared.take(text),
      () => shared.ask(),
    );
  }

  /** Starts to share the reads of a chain: those at committed heads, or those of blocks that are being built. */
  join(
    chain: ChainConfig,
    basis: 'committed' | 'live',
    { requested, onHead, comesFirst }: Pick<ChainReadsDeps, 'requested' | 'onHead' | 'comesFirst'>,
  ): ChainReads {
    const name = `${nameOf(chain, this.#prefix)}-${basis}`;
    const claims = redisClaims(this.#bus.redis, (state) => `${name}:${state}`);
    const reads = new ChainReads({
      requested,
      onHead,
      comesFirst,
      onFailure: this.#bus.failed,
      now: this.#now,
      publish: (kind, text) => this.#bus.publish(`${name}:${kind}`, text),
      claims: {
        ...claims,
        take: async (state) => {
          const taken = await claims.take(state);
          this.#bus.worked();
          // What was read came before on another connection, which may be behind on a busy machine.
          if (taken === 'over') await this.#bus.caughtUp();
          if (taken === 'taken') this.#claimed.inc({ chain: chain.chainId });
          return taken;
        },
      },
    });
    this.#chains.push(reads);
    const ticks = new NeededTicks(reads);
    requested.onRequested(() => ticks.start());
    for (const kind of ['reads', 'requests'] as const) {
      this.#bus.subscribe(`${name}:${kind}`, (text) => {
        ticks.start();
        reads.take(kind, text);
      });
    }
    this.#stopTicks.push(() => ticks.stop());
    return reads;
  }

  /** Starts to share the sources of a chain's live prices, which one process reads for all. */
  shareFeed(chain: ChainConfig, feed: LiveFeed): void {
    this.#openFeed(chain, (channel, key) => {
      const keys = { lease: key, holder: randomUUID() };
      const request = { redis: this.#bus.redis, keys, durationMs: LEASE_MS };
      return {
        feed,
        publish: (text) => this.#bus.publish(channel, text),
        findReader: async () => ((await acquireLease(request)) ? 'own' : 'other'),
      };
    });
  }

  /**
   * Starts to take the overrides of a chain's sources from the process that reads these for all. While there is none,
   * this process reads them for itself.
   */
  followFeed(chain: ChainConfig, feed: LiveFeed): void {
    this.#openFeed(chain, (_, lease) => ({
      feed,
      findReader: async () => ((await this.#bus.redis.exists(lease)) === 0 ? 'unknown' : 'other'),
    }));
  }

  /**
   * Starts to share which parts of blocks being built calls show: one process makes them while others hear of it.
   * So they do of pools that burn gas, of the pools of sealed blocks that one compares, and of the fees in blocks that
   * one reads.
   */
  shareParts(
    chain: ChainConfig,
    { feed, sealed, shownAnswers: { gas } }: Pick<OpenPartHeads, 'feed' | 'sealed' | 'shownAnswers'>,
  ): void {
    const channel = `${nameOf(chain, this.#prefix)}:parts`;
    const costlyChannel = `${nameOf(chain, this.#prefix)}:costly`;
    gas.onCostly((pool) => void this.#bus.publish(costlyChannel, writeCostly(pool)));
    this.#bus.subscribe(costlyChannel, (text) => gas.takeCostly(parseCostly(text)));
    feed.onShown((part) => void this.#bus.publish(channel, writePart(feed.id, part)));
    this.#bus.subscribe(channel, (text) => {
      const { from, ...part } = parsePart(text);
      feed.hear(from, part);
    });
    sealed.onCompared((pools) => void this.#bus.publish(sealedChannel(chain, this.#prefix), writeSealed(pools)));
    this.followSealed(chain, (pools) => sealed.take(pools));
    sealed.onFees((fees) => void this.#bus.publish(feesChannel(chain, this.#prefix), writeFees(fees)));
    this.followFees(chain, (fees) => feed.noteFees(fees));
  }

  /** Passes on what other processes read of fees in sealed blocks. */
  followFees(chain: ChainConfig, listener: (fees: SealedFees) => void): void {
    this.#bus.subscribe(feesChannel(chain, this.#prefix), (text) => listener(parseFees(text)));
  }

  /** Passes on what other processes find of the pools of sealed blocks that they compare with parts. */
  followSealed(chain: ChainConfig, listener: (pools: SealedPools) => void): void {
    this.#bus.subscribe(sealedChannel(chain, this.#prefix), (text) => listener(parseSealed(text)));
  }

  #openFeed(chain: ChainConfig, depsOf: (channel: string, lease: string) => SharedFeedDeps): void {
    const name = nameOf(chain, this.#prefix);
    // The rights of capture's user of Redis name both.
    const channel = `${name}:words`;
    const shared = new SharedFeed(depsOf(channel, `${name}:source-reader`));
    this.#bus.subscribe(channel, (text) => shared.take(text));
    this.#stopTicks.push(startRepeating(() => shared.tick(), RENEW_MS));
  }

  /** Passes on the quote updates of a chain that makers publish, to one listener at a time. @returns ends that */
  listen(chainId: number, listener: (text: string) => void): () => void {
    return this.#bus.subscribe(ownUpdatesChannel(this.#prefix, chainId), listener);
  }

  stop(): void {
    for (const stop of this.#stopTicks) stop();
    this.#bus.stop();
  }
}

/** Capture's user of Redis has rights to channels that end so. */
const sealedChannel = (chain: ChainConfig, prefix: string): string => `${nameOf(chain, prefix)}-sealed:words`;
const feesChannel = (chain: ChainConfig, prefix: string): string => `${nameOf(chain, prefix)}-fees:words`;

/** Names shared reads. Other releases and configurations may read pools differently, so they have other names. */
function nameOf({ chainId, multicall3, deployments }: ChainConfig, prefix: string): string {
  const configuration = createHash('sha256').update(JSON.stringify({ multicall3, deployments })).digest('hex');
  return `${prefix}:reads-${FORMAT}-${chainId}-${configuration.slice(0, 12)}`;
}
