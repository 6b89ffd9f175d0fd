import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Lease } from '../../runtime/lease/lease.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import type { SharedKind, SharedReads } from '../reads/shared-reads.ts';
import type { RequestedPool, RequestedPools } from '../requested/requested-pools.ts';
import { FollowedReads } from './followed-reads.ts';
import { parseFromLeader, parseReport, writeBeat, writeReport } from './messages.ts';
import { PublishedReads } from './published-reads.ts';

/** What a process serves of a chain, and the way of its messages to the others. */
export interface ChainReadsLink {
  readonly requested: RequestedPools;
  /** Sends to all that follow. */
  readonly publish: (message: string) => void;
}

/** What makes a process the leading one. */
interface Lead {
  readonly lease: Lease;
  readonly published: PublishedReads;
  /** By process: what it has requests for, and when it said so. */
  readonly reports: Map<string, { readonly pools: readonly RequestedPool[]; readonly at: number }>;
  /** Whether any other process follows. */
  isFollowed: boolean;
  /** When all that is known was published for those that missed messages. */
  wholeAt: number;
}

/** A process that reported nothing for this long has no requests any more. */
const REPORT_MS = 10_000;
/** All that is known may be megabytes: it is not published more often. */
const MIN_WHOLE_MS = 1_000;
/** Address and kind: nothing else is read of a pool. */
const nameOf = (kind: SharedKind, pool: Address): string => `${kind}:${pool}`;

/** Leads or follows the processes that serve a chain; does neither before it is linked, and while it cannot. */
export class ChainReads implements SharedReads {
  readonly #id: string;
  readonly #now: Clock;
  readonly #followed: FollowedReads;
  #clock: HeadTracker<ReportedHead> | undefined;
  #link: ChainReadsLink | undefined;
  #lead: Lead | undefined;
  #flush: NodeJS.Immediate | undefined;

  /** @param id of the process */
  constructor(id: string, now: Clock = () => performance.now()) {
    this.#id = id;
    this.#now = now;
    this.#followed = new FollowedReads({ now, onHead: (block) => this.#clock?.push({ block, endpoint: null }) });
  }

  get isLeading(): boolean {
    return this.#lead !== undefined;
  }

  /** The highest that this process knows of. */
  get token(): string {
    return this.#followed.token;
  }

  /** Whether its nodes give it no head although pools are requested: it is not to lead. */
  get isBlind(): boolean {
    return this.#clock?.known === undefined && this.#link?.requested.list().length !== 0;
  }

  get isFollowing(): boolean {
    return this.#followed.head !== null;
  }

  confirms({ hash }: BlockRef): boolean {
    return this.#followed.head === hash;
  }

  drive(clock: HeadTracker<ReportedHead>): void {
    this.#clock = clock;
  }

  link(link: ChainReadsLink): void {
    this.#link = link;
  }

  /** Leads from now on, as long as the lease is held. */
  lead(lease: Lease): void {
    this.#followed.begin(lease.fence);
    const published = new PublishedReads(lease.fence);
    this.#lead = { lease, published, reports: new Map(), isFollowed: false, wholeAt: Number.NEGATIVE_INFINITY };
  }

  /** Leads no more. */
  resign(): void {
    this.#lead = undefined;
    this.#link?.requested.setElsewhere([]);
  }

  async find(kind: SharedKind, { hash }: BlockRef, pool: Address): Promise<unknown> {
    return this.#lead ? undefined : this.#followed.find(nameOf(kind, pool), hash);
  }

  async share<T>(
    kind: SharedKind,
    block: BlockRef,
    pools: readonly Address[],
    values: Promise<readonly T[]>,
    write: (value: T) => string,
  ): Promise<readonly T[]> {
    const published = this.#lead?.isFollowed ? this.#lead.published : undefined;
    // Only the head is published: what is read at an older block is too late for all.
    const head = this.#clock?.current?.block;
    const isRequested = pools.map((pool) => this.#link?.requested.has(pool));
    if (!published || head?.hash !== block.hash || !isRequested.includes(true)) return values;
    published.begin(head);
    this.#flushSoon();
    const settle = (jsonOf: (index: number) => string | null) => {
      for (const [index, pool] of pools.entries()) {
        if (isRequested[index]) published.settle(block, nameOf(kind, pool), jsonOf(index));
      }
      // All answers come at once: the others decode them while this process does. Sides come one by one.
      if (kind === 'answers') this.#flushNow();
      else this.#flushSoon();
    };
    try {
      const read = await values;
      settle((index) => write(read[index] as T));
      return read;
    } catch (error) {
      settle(() => null);
      throw error;
    }
  }

  /** All requested pools are read at a block, or will not be. */
  end(block: BlockRef): void {
    this.#lead?.published.end(block);
    this.#flushSoon();
  }

  /** Takes a message of the leading process. @throws SyntaxError or ZodError when it is none */
  takeFromLeader(text: string): void {
    if (!this.#lead) this.#followed.take(parseFromLeader(text));
  }

  /** Takes what another process has requests for. @throws SyntaxError or ZodError when it says no such thing */
  takeReport(text: string): void {
    const report = parseReport(text);
    const lead = this.#lead;
    if (!lead || report.token !== lead.published.token) return;
    lead.isFollowed = true;
    const pools = report.pools ?? lead.reports.get(report.id)?.pools ?? [];
    lead.reports.set(report.id, { pools, at: this.#now() });
    this.#countReports(lead);
    if (!report.isBehind || this.#now() - lead.wholeAt < MIN_WHOLE_MS) return;
    lead.wholeAt = this.#now();
    lead.published.demandWhole();
    this.#flushSoon();
  }

  /** Whether another process leads. */
  get hearsLeader(): boolean {
    return this.#followed.isHeard;
  }

  /** What to say to the leading process. @param isShort without the pools, as they are those of the report before */
  report(isShort: boolean): string {
    const { token, isBehind } = this.#followed;
    const pools = isShort ? undefined : (this.#link?.requested.own() ?? []);
    return writeReport({ id: this.#id, token, isBehind }, pools);
  }

  /** What to say to all that follow; undefined while this process does not lead. */
  beat(): string | undefined {
    const lead = this.#lead;
    if (!lead) return undefined;
    this.#flushNow();
    const { token, seq } = lead.published;
    return writeBeat({ token, seq, head: this.#clock?.known?.block.hash ?? null });
  }

  /** Takes how many processes a beat reached. */
  countFollowers(count: number): void {
    if (this.#lead) this.#lead.isFollowed = count > 0;
  }

  /** To be called a few times a second. */
  tick(): void {
    this.#followed.tick();
    if (this.#lead) this.#countReports(this.#lead);
  }

  #countReports({ reports }: Lead): void {
    for (const [id, { at }] of reports) if (this.#now() - at > REPORT_MS) reports.delete(id);
    this.#link?.requested.setElsewhere([...reports.values()].flatMap(({ pools }) => pools));
  }

  /** What is read in one turn goes into one message. */
  #flushSoon(): void {
    this.#flush ??= setImmediate(() => this.#flushNow());
  }

  #flushNow(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    const lead = this.#lead;
    // Another may lead already: it would be refused for its token.
    if (!lead?.lease.isHeld()) return;
    for (const message of lead.published.drain()) this.#link?.publish(message);
  }
}
