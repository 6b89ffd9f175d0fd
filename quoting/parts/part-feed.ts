import { digestOf, pendingPart } from '../../chain/pending-part.ts';
import type { PartView, PendingPart } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Heads } from '../heads/heads.ts';
import type { LiveObserver } from '../live/live-metrics.ts';
import type { PendingOverrides } from '../live/sourced-block.ts';
import type { SealedFees } from './next-lag.ts';
import { nextPart, noPart, type PartOutcome, type PartShown, withFees } from './next-part.ts';
import {
  indexOf,
  isUsedState,
  noPushes,
  type PushedPart,
  type Pushes,
  withCall,
  withPush,
  withView,
} from './part-pushes.ts';
import { idle, nextSchedule, type PartEvent } from './part-schedule.ts';
import type { SealedChecks } from './sealed-checks.ts';

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
  /** Whether parts of a node are left out of quotes since sealed blocks were others. Default: never. */
  readonly sealed?: Pick<SealedChecks, 'isDivergent'> | undefined;
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
  #pushes = noPushes;
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

  /** Whether somebody wants quotes now. */
  get isWanted(): boolean {
    return !this.#isClosed && this.#deps.now() - this.#wantedAt < WANTED_MS;
  }

  /** Why no part is used although somebody wants quotes; undefined when one is. */
  warning(): string | undefined {
    if (!this.isWanted || this.#outcome === null) return undefined;
    const isDivergent = this.#isDivergent(this.#parts.used?.view);
    if (this.state() && !isDivergent) return undefined;
    // Where the last one was used, the call since then is overdue.
    const outcome = this.#outcome === 'used' ? 'timeout' : this.#outcome;
    const reason = isDivergent ? 'divergent' : outcome;
    return `quotes are committed: parts of blocks are not used (${reason})`;
  }

  /** The state after the newest part; undefined without one that was shown within `maxAgeMs`. */
  state(): PendingOverrides | undefined {
    const { used } = this.#parts;
    const { now, maxAgeMs, multicall3 } = this.#deps;
    if (!used || now() - used.shownAt > maxAgeMs) return undefined;
    const { view, index, shownAt } = used;
    const digest = digestOf(view);
    if (this.#state?.digest === digest && this.#state.receivedAt === shownAt) return this.#state;
    this.#state = pendingPart({ view, index, multicall3 }, shownAt);
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

  /** Notes that a node pushed a part. @param from names its socket */
  push(part: PushedPart | undefined, from: string): void {
    const { used } = this.#parts;
    this.#pushes = withPush(this.#pushes, part, from);
    const isShown = used && this.isWanted && isUsedState(this.#pushes, used);
    const isUsed = isShown && this.#use({ view: used.view, index: part?.index ?? null });
    this.#next({ kind: isUsed ? 'unchanged' : 'pushed' });
  }

  /** Notes that a node pushed a log of a part. */
  log(): void {
    this.#next({ kind: 'logged' });
  }

  /** Notes what another process shared. */
  hear(from: string, part: SharedPart): void {
    this.#judge(part);
    this.#next({ kind: 'heard', comesFirst: from < this.#deps.id });
  }

  /** Notes what the accounts of fees hold in a sealed block. */
  noteFees(fees: SealedFees): void {
    this.#parts = withFees(this.#parts, fees);
  }

  /** Notes what a call of this process showed. @param begun the pushes when it began; undefined: it is not known */
  note(view: PartView, begun?: Pushes): void {
    this.#pushes = withView(this.#pushes, begun, view);
    const index = indexOf(this.#pushes, begun, view, this.#parts.used);
    if (this.#use({ view, index })) this.#pushes = withCall(this.#pushes, begun, index);
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#shared.clear();
    this.#alarm.set(null, this.#deps.now());
  }

  /** @returns whether the part is used; then others hear of it */
  #use(part: SharedPart): boolean {
    if (this.#judge(part) !== 'used') return false;
    const index = this.#parts.used?.index ?? null;
    for (const listener of this.#shared) listener({ view: part.view, index });
    return true;
  }

  #isDivergent(view: PartView | undefined): boolean {
    return this.#deps.sealed?.isDivergent(view?.node) === true;
  }

  #judge(part: Omit<PartShown, 'head'>): PartOutcome {
    const { committed, now, observer } = this.#deps;
    const [state, outcome] = nextPart(this.#parts, { ...part, head: committed.announced?.block }, now());
    this.#parts = state;
    this.#outcome = outcome;
    observer?.count('preconfirmed', outcome === 'used' && this.#isDivergent(part.view) ? 'divergent' : outcome);
    if (outcome === 'used') for (const listener of this.#listeners) listener();
    return outcome;
  }

  #next(event: PartEvent): void {
    const now = this.#deps.now();
    const [state, { read, wakeAt }] = nextSchedule(this.#schedule, event, now, this.isWanted);
    this.#schedule = state;
    this.#alarm.set(wakeAt, now);
    if (read) void this.#read();
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const { read, observer } = this.#deps;
    const begun = this.#pushes;
    await read().then(
      (view) => this.#isClosed || this.note(view, begun),
      (error) => {
        this.#outcome = faultOf(error);
        observer?.count('preconfirmed', this.#outcome);
      },
    );
    this.#next({ kind: 'ended' });
  }
}

function faultOf(error: unknown): PartFault {
  const code = error instanceof RpcFailure ? error.code : 'malformed';
  if (code === 'aborted') return 'timeout';
  return code === 'timeout' || code === 'refused' || code === 'malformed' ? code : 'unreachable';
}
