import { isSameView } from '../../chain/part-view.ts';
import { type PartView, type PendingPart, stateDigest } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Heads } from '../heads/heads.ts';
import type { LiveObserver } from '../live/live-metrics.ts';
import type { PendingOverrides } from '../live/sourced-block.ts';
import { nextPart, noPart, type PartOutcome, type PartShown } from './next-part.ts';
import { idle, nextSchedule, type PartEvent } from './part-schedule.ts';

/** A part that a node pushed. The index is null where the node does not say it. */
export interface PushedPart {
  readonly blockNumber: bigint;
  readonly index: number | null;
}

/** What one process shares of a part with the others. */
export interface SharedPart {
  readonly view: PartView;
  readonly index: number | null;
}

export interface PartFeedDeps {
  /** Names this process: of two that read, the one with the lower name goes on. */
  readonly id: string;
  readonly multicall3: PendingPart['multicall3'];
  readonly maxAgeMs: number;
  readonly committed: Pick<Heads, 'announced'>;
  /** Makes one call at the tag `pending`. */
  readonly read: () => Promise<PartView>;
  readonly observer?: Pick<LiveObserver, 'count'> | undefined;
  readonly now: Clock;
}

/** Calls fail so while the node is down, and also while a block is sealed. */
type PartFault = 'unreachable' | 'timeout' | 'refused' | 'malformed';

/** For so long after somebody asked for quotes nodes are asked. While pools are requested, each new head asks. */
const WANTED_MS = 5_000;

/**
 * The newest part of the block being built, as calls at the tag `pending` show it. It is asked for when
 * {@link nextSchedule} says so, and believed as far as {@link nextPart} does.
 */
export class PartFeed {
  readonly #deps: PartFeedDeps;
  #parts = noPart;
  #schedule = idle;
  /** The last push, while no part that is used has its index. */
  #pushed: PushedPart | undefined;
  #outcome: PartOutcome | PartFault | null = null;
  #wantedAt = Number.NEGATIVE_INFINITY;
  #state: PendingOverrides | undefined;
  #isClosed = false;
  readonly #listeners = new Set<() => void>();
  readonly #shared = new Set<(part: SharedPart) => void>();
  readonly #alarm = new Alarm(() => this.#next({ kind: 'time' }));

  constructor(deps: PartFeedDeps) {
    this.#deps = deps;
  }

  get id(): string {
    return this.#deps.id;
  }

  /** Notes that somebody asks for quotes, or follows them. */
  want(): void {
    this.#wantedAt = this.#deps.now();
    this.#next({ kind: 'wanted' });
  }

  /** Why no part is used although somebody wants quotes; undefined when one is. */
  warning(): string | undefined {
    if (!this.#isWanted || this.state() || this.#outcome === null) return undefined;
    return `quotes are committed: parts of blocks are not used (${this.#outcome})`;
  }

  /** The state after the newest part; undefined without one that was shown within `maxAgeMs`. */
  state(): PendingOverrides | undefined {
    const { used } = this.#parts;
    const { now, maxAgeMs, multicall3 } = this.#deps;
    if (!used || now() - used.shownAt > maxAgeMs) return undefined;
    const { view, index, shownAt } = used;
    const digest = digestOf(view);
    if (this.#state?.digest === digest && this.#state.receivedAt === shownAt) return this.#state;
    const { blockNumber, timestamp } = view;
    const content = { blockNumber, timestamp, digest, part: { view, index, multicall3 } };
    this.#state = { ...content, overrides: new Map(), receivedAt: shownAt };
    return this.#state;
  }

  /** Calls the listener, which must not throw, whenever a part is shown that is used. @returns removes it */
  onFrame(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener with what calls of this process show, for others. */
  onShown(listener: (part: SharedPart) => void): void {
    this.#shared.add(listener);
  }

  /** Notes that a node pushed a part. */
  push(part: PushedPart | undefined): void {
    this.#pushed = part;
    this.#next({ kind: 'pushed' });
  }

  /** Notes what another process shared. */
  hear(from: string, part: SharedPart): void {
    this.#judge(part);
    this.#next({ kind: 'heard', comesFirst: from < this.#deps.id });
  }

  /** Notes what a call of this process showed. @param before the last push at its start, while no part has its index */
  note(view: PartView, before?: PushedPart): void {
    const index = this.#indexOf(view, before);
    if (this.#judge({ view, index }) !== 'used') return;
    if (index !== null) this.#pushed = undefined;
    const known = this.#parts.used?.index ?? null;
    for (const listener of this.#shared) listener({ view, index: known });
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#shared.clear();
    this.#alarm.set(null, this.#deps.now());
  }

  get #isWanted(): boolean {
    return !this.#isClosed && this.#deps.now() - this.#wantedAt < WANTED_MS;
  }

  #judge(part: Omit<PartShown, 'head'>): PartOutcome {
    const { committed, now, observer } = this.#deps;
    const [state, outcome] = nextPart(this.#parts, { ...part, head: committed.announced?.block }, now());
    this.#parts = state;
    this.#outcome = outcome;
    observer?.count('preconfirmed', outcome);
    if (outcome === 'used') for (const listener of this.#listeners) listener();
    return outcome;
  }

  #next(event: PartEvent): void {
    const now = this.#deps.now();
    const [state, { read, wakeAt }] = nextSchedule(this.#schedule, event, now, this.#isWanted);
    this.#schedule = state;
    this.#alarm.set(wakeAt, now);
    if (read) void this.#read();
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const { read, observer } = this.#deps;
    const before = this.#pushed;
    await read().then(
      (view) => this.#isClosed || this.note(view, before),
      (error) => {
        this.#outcome = faultOf(error);
        observer?.count('preconfirmed', this.#outcome);
      },
    );
    this.#next({ kind: 'ended' });
  }

  /** The index of what a call showed: null where it may be of another part than was pushed last. */
  #indexOf(view: PartView, before: PushedPart | undefined): number | null {
    const pushed = this.#pushed;
    if (pushed?.blockNumber !== view.blockNumber || pushed.index === null) return null;
    const { used } = this.#parts;
    const last = used?.view.blockNumber === view.blockNumber ? used.index : -1;
    if (last !== null && pushed.index <= last) return null;
    if (before) return before.blockNumber === pushed.blockNumber && before.index === pushed.index ? pushed.index : null;
    // A push during the call: it shows that part if it shows another one than the part before.
    const isNext = last !== null && pushed.index === last + 1;
    return isNext && !(used && isSameView(used.view, view)) ? pushed.index : null;
  }
}

function faultOf(error: unknown): PartFault {
  const code = error instanceof RpcFailure ? error.code : 'malformed';
  if (code === 'aborted') return 'timeout';
  return code === 'timeout' || code === 'refused' || code === 'malformed' ? code : 'unreachable';
}

const digestOf = ({ blockNumber, timestamp, parentHash, feesWei }: PartView): string =>
  stateDigest(`${blockNumber} ${timestamp} ${parentHash} ${feesWei}`);
