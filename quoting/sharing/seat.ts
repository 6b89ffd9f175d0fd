import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { acquireLease, type Lease, type LeaseKeys, leaseKeys } from '../../runtime/lease/lease.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { ChainReads } from './chain-reads.ts';
import { FORMAT } from './messages.ts';

/** With these another process leads within two seconds of the end of the one that did. */
const LEASE_MS = 1_500;
const BEAT_MS = 300;
/** After so many beats without a head, though pools are requested, a process does not lead for a while. */
const MAX_BLIND_BEATS = 5;
const ASIDE_MS = 10_000;
/** Redis that takes longer counts as unreachable. */
export const COMMAND_TIMEOUT_MS = 500;
/** How often a process says that it has the same requests, and which. */
const REPORT_MS = 3_000;
const WHOLE_REPORT_MS = 30_000;

export interface Names extends LeaseKeys {
  /** Channel of the leading process. */
  readonly reads: string;
  /** Channel to it. */
  readonly reports: string;
}

/** Processes of another release or configuration, which may read pools otherwise, have other names. */
export function namesOf({ chainId, multicall3, deployments }: ChainConfig, prefix: string): Names {
  const configuration = createHash('sha256').update(JSON.stringify({ multicall3, deployments })).digest('hex');
  const id = `reads-${FORMAT}-${chainId}-${configuration.slice(0, 12)}`;
  return { ...leaseKeys(prefix, id), reads: `${prefix}:${id}:reads`, reports: `${prefix}:${id}:reports` };
}

export interface SeatDeps {
  readonly reads: ChainReads;
  readonly requested: Parameters<ChainReads['link']>[0]['requested'];
  readonly names: Names;
  /** Its commands fail at once while Redis is unreachable. */
  readonly redis: Redis;
  readonly subscriber: Redis;
  readonly logger: Logger;
}

/** The place of this process among those that serve a chain. */
export class Seat {
  readonly #deps: SeatDeps;
  readonly #stopBeats: () => void;
  #lease: Lease | undefined;
  #reported = { text: '', at: 0, wholeAt: 0 };
  #blindBeats = 0;
  #asideUntil = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #isClosed = false;

  constructor(deps: SeatDeps) {
    this.#deps = deps;
    const { reads, requested, redis, names } = deps;
    reads.link({ requested, publish: (message) => void redis.publish(names.reads, message).catch(this.#fail) });
    this.#hear(names.reads, names.reports);
    this.#stopBeats = startRepeating(() => this.#beat(), BEAT_MS);
  }

  take(channel: string, text: string): void {
    const { names, reads, logger } = this.#deps;
    try {
      if (channel === names.reads) reads.takeFromLeader(text);
      if (channel === names.reports) reads.takeReport(text);
    } catch (error) {
      logger.warn({ err: error, channel }, 'a message of another process was not understood');
    }
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#stopBeats();
    const lease = this.#lease;
    if (!lease) return;
    this.#resign();
    await withTimeout(lease.release(), COMMAND_TIMEOUT_MS).catch(this.#fail);
  }

  async #beat(): Promise<void> {
    const { reads, redis } = this.#deps;
    reads.tick();
    if (this.#lease && !this.#lease.isHeld()) this.#resign();
    if (redis.status !== 'ready') return;
    try {
      await (this.#lease ? this.#keep(this.#lease) : this.#compete());
      this.#isFailing = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  async #keep(lease: Lease): Promise<void> {
    const { reads, redis, names } = this.#deps;
    this.#blindBeats = reads.isBlind ? this.#blindBeats + 1 : 0;
    if (this.#blindBeats > MAX_BLIND_BEATS) return this.#stepAside(lease);
    const isHeld = await lease.renew();
    if (this.#isClosed) return;
    if (!isHeld) return this.#resign();
    const beat = reads.beat();
    if (beat) reads.countFollowers(await redis.publish(names.reads, beat));
  }

  async #compete(): Promise<void> {
    const { reads, redis, names, logger } = this.#deps;
    if (reads.hearsLeader || performance.now() < this.#asideUntil) return this.#report();
    // What was read is known to the process that reads alone: after a loss of data there is nothing to wait for.
    const lease = await acquireLease(redis, names, LEASE_MS, true, reads.token);
    if (lease && this.#isClosed) return void lease.release().catch(this.#fail);
    if (!lease) return this.#report();
    this.#lease = lease;
    reads.lead(lease);
    this.#hear(names.reports, names.reads);
    logger.info({ fence: lease.fence }, 'reads the chain for all processes');
  }

  /** Another one may have nodes that answer. */
  async #stepAside(lease: Lease): Promise<void> {
    this.#asideUntil = performance.now() + ASIDE_MS;
    this.#resign();
    await lease.release();
  }

  /** A report that nobody heard is sent again. */
  async #report(): Promise<void> {
    const { reads, redis, names } = this.#deps;
    const [text, at] = [reads.report(false), performance.now()];
    const last = this.#reported;
    const isShort = text === last.text && at - last.wholeAt < WHOLE_REPORT_MS;
    if (isShort && at - last.at < REPORT_MS) return;
    const listeners = await redis.publish(names.reports, isShort ? reads.report(true) : text);
    if (listeners > 0) this.#reported = { text, at, wholeAt: isShort ? last.wholeAt : at };
  }

  #resign(): void {
    const { reads, names, logger } = this.#deps;
    this.#lease = undefined;
    reads.resign();
    this.#hear(names.reads, names.reports);
    logger.info('reads the chain for itself alone');
  }

  /** Who leads hears reports, and who does not hears who leads. */
  #hear(channel: string, other: string): void {
    const { subscriber } = this.#deps;
    void Promise.all([subscriber.subscribe(channel), subscriber.unsubscribe(other)]).catch(this.#fail);
  }

  /** Logs the first failure of a row: the chain is read without the others meanwhile. */
  readonly #fail = (error: unknown): void => {
    if (!this.#isFailing && !this.#isClosed) this.#deps.logger.warn({ err: error }, 'reads are not shared');
    this.#isFailing = true;
  };
}
