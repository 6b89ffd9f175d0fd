import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import type { RequestedPool, RequestedPools } from '../requested/requested-pools.ts';
import { parseReport, writeReport } from './messages.ts';

/** How often a process reports that its requests are unchanged, and how often it lists them again. */
const REPORT_MS = 3_000;
const WHOLE_REPORT_MS = 30_000;
/** The requests of a process that reported nothing for this long are dropped. */
const FORGET_MS = 10_000;

interface Peer {
  readonly pools: readonly RequestedPool[];
  readonly at: number;
}

/** Takes what clients request of other processes of a chain, and reports to these what clients request of this one. */
export class PeerRequests {
  readonly #requested: RequestedPools;
  readonly #onNewPeer: () => void;
  readonly #peers = new Map<string, Peer>();
  #id: string = randomUUID();
  #sent = { text: '', at: Number.NEGATIVE_INFINITY, wholeAt: Number.NEGATIVE_INFINITY };
  #announced: ReadonlySet<Address> = new Set();

  /** @param onNewPeer called when a process has its first requests, or missed messages */
  constructor(requested: RequestedPools, onNewPeer: () => void) {
    this.#requested = requested;
    this.#onNewPeer = onNewPeer;
  }

  /** Name of this process among the others. */
  get id(): string {
    return this.#id;
  }

  /** Whether no other process has requests. */
  get isAlone(): boolean {
    return this.#peers.size === 0;
  }

  /** Whether the other processes know that a client of any process requests this pool. */
  has(pool: Address): boolean {
    return !this.isAlone && (this.#announced.has(pool) || this.#requested.hasElsewhere(pool));
  }

  /** To be called when this process may have missed messages: its new name makes it a new peer of all others. */
  rejoin(): void {
    this.#id = randomUUID();
  }

  /** Takes the report of another process. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    const { id, pools } = parseReport(text);
    const known = this.#peers.get(id);
    // A process whose pools are not known yet lists them within half a minute.
    const now = pools ?? known?.pools;
    if (id === this.#id || !now) return;
    this.#peers.set(id, { pools: now, at: performance.now() });
    if (pools) this.#apply();
    if (known) return;
    this.#sent = { ...this.#sent, wholeAt: Number.NEGATIVE_INFINITY };
    this.#onNewPeer();
  }

  /** Writes the report to send now; null while the others know it. To be called a few times a second. */
  report(): string | null {
    const now = performance.now();
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
