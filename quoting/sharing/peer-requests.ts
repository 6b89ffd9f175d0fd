import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { RequestedPool, RequestedPools } from '../requested/requested-pools.ts';
import { parseReport, writeReport } from './messages.ts';

/** How often a process says that it has the same requests, and which. */
const REPORT_MS = 3_000;
const WHOLE_REPORT_MS = 30_000;
/** A process that reported nothing for this long has no requests any more. */
const FORGET_MS = 10_000;

interface Peer {
  readonly pools: readonly RequestedPool[];
  readonly at: number;
}

/** What clients request of the other processes that serve a chain, and what the others are to know of this one. */
export class PeerRequests {
  readonly #requested: RequestedPools;
  readonly #onNewPeer: () => void;
  readonly #now: Clock;
  readonly #peers = new Map<string, Peer>();
  #id: string = randomUUID();
  #sent = { text: '', at: Number.NEGATIVE_INFINITY, wholeAt: Number.NEGATIVE_INFINITY };
  #announced: ReadonlySet<Address> = new Set();

  /** @param onNewPeer a process has requests that had none, or missed messages */
  constructor(requested: RequestedPools, onNewPeer: () => void, now: Clock = () => performance.now()) {
    this.#requested = requested;
    this.#onNewPeer = onNewPeer;
    this.#now = now;
  }

  /** Name of this process among the others. */
  get id(): string {
    return this.#id;
  }

  /** Whether no other process has requests. */
  get isAlone(): boolean {
    return this.#peers.size === 0;
  }

  /** Whether the others know that a client of any process requests this pool. */
  has(pool: Address): boolean {
    return !this.isAlone && (this.#announced.has(pool) || this.#requested.hasElsewhere(pool));
  }

  /** This process may have missed messages: under another name it is a new peer of all others. */
  rejoin(): void {
    this.#id = randomUUID();
  }

  /** Takes the report of another process. @throws SyntaxError or ZodError when it is none */
  take(text: string): void {
    const { id, pools } = parseReport(text);
    const known = this.#peers.get(id);
    // One whose pools are not known yet tells them within half a minute.
    const now = pools ?? known?.pools;
    if (id === this.#id || !now) return;
    this.#peers.set(id, { pools: now, at: this.#now() });
    if (pools) this.#apply();
    if (known) return;
    this.#sent = { ...this.#sent, wholeAt: Number.NEGATIVE_INFINITY };
    this.#onNewPeer();
  }

  /** What is to be said now, null when the others know it. To be called a few times a second. */
  report(): string | null {
    const now = this.#now();
    const silent = [...this.#peers].filter(([, { at }]) => now - at > FORGET_MS);
    for (const [id] of silent) this.#peers.delete(id);
    if (silent.length > 0) this.#apply();
    const pools = this.#requested.own();
    const text = writeReport(this.#id, pools);
    const { text: last, at, wholeAt } = this.#sent;
    const isSilent = pools.length === 0 && this.#announced.size === 0;
    const isWhole = text !== last || now - wholeAt >= WHOLE_REPORT_MS;
    if (isSilent || (!isWhole && now - at < REPORT_MS)) return null;
    this.#announced = new Set(pools.map(({ address }) => address));
    this.#sent = { text, at: now, wholeAt: isWhole ? now : wholeAt };
    return isWhole ? text : writeReport(this.#id, undefined);
  }

  #apply(): void {
    this.#requested.setElsewhere([...this.#peers.values()].flatMap(({ pools }) => pools));
  }
}
