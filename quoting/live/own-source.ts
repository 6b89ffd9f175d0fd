import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { blockAfter, type StateOverrides, type TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { traceWrites } from '../../chain/trace-writes.ts';
import type { Heads } from '../heads/heads.ts';
import { checkBounds, type Frame, FrameError } from './frame.ts';
import type { SourceFault } from './live-source.ts';
import { parseOwnUpdate } from './own-update.ts';
import { isGoodFor, OWN_BOUNDS, type OwnSender, type OwnSlot, OwnUpdates, venueOf } from './own-updates.ts';
import { traceableCall } from './traceable-call.ts';

/** What the source of kind `own` needs of its chain. */
export interface OwnSourceDeps {
  readonly rpc: ChainRpc;
  readonly heads: Pick<Heads, 'announced' | 'head'>;
  /** Passes on the messages of `ownUpdatesChannel`. @returns ends that */
  readonly listen: (listener: (text: string) => void) => () => void;
  /** Whether nodes find writes now. */
  readonly canTrace: () => boolean;
}

export interface OwnSourceOptions extends OwnSourceDeps {
  readonly chainId: number;
  readonly blockTimeMs: number;
  /** Takes a frame. Must not throw. */
  readonly onFrame: (frame: Frame) => void;
  readonly count: (fault: SourceFault) => void;
  readonly now: Clock;
}

/** At most one trace begins in each of these: 50 a second. */
const TICK_MS = 20;
const MAX_TRACING = 4;
/** How often overrides that still hold are sent again. */
const RENEW_MS = 250;
/** After a trace that failed; and between two polls of a chain that nothing else asks for its head. */
const RETRY_MS = 1_000;

/**
 * Makes frames of the quote updates that pass through this service. An update's overrides are what it would write in the block
 * after the committed head: it is traced at each head that it is good for. It traces at most 50 updates a second, 4 at a time.
 */
export class OwnSource {
  readonly #options: OwnSourceOptions;
  readonly #updates = new OwnUpdates();
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #closed = new AbortController();
  #tracing = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** The venues of the last frame that had overrides. */
  #sent: readonly Address[] = [];
  #polledAt = Number.NEGATIVE_INFINITY;

  /** Begins to listen. */
  constructor(options: OwnSourceOptions) {
    this.#options = options;
    this.#stopListening = options.listen((text) => this.#take(text));
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Ends requests. No callback is called after that. */
  close(): void {
    this.#closed.abort();
    this.#stopListening();
    clearInterval(this.#timer);
  }

  #take(text: string): void {
    const update = this.#read(() => parseOwnUpdate(text));
    if (!update || Date.now() - update.sentAtMs > OWN_BOUNDS.ageMs) return;
    const { heads, now, blockTimeMs } = this.#options;
    const isNew = this.#updates.take(update, now());
    const head = heads.announced?.block;
    // The overrides of the update that it replaces end.
    if (isNew && head && !isGoodFor(update, blockAfter(head, blockTimeMs))) this.#send([venueOf(update)]);
  }

  #tick(): void {
    const { heads, now, canTrace, blockTimeMs } = this.#options;
    if (this.#updates.isEmpty && this.#sent.length === 0) return;
    const head = heads.announced?.block;
    if (!head) {
      this.#poll();
      return;
    }
    const target = blockAfter(head, blockTimeMs);
    this.#updates.expire(target, now());
    if (now() - this.#sentAt >= RENEW_MS) this.#send();
    if (this.#tracing >= MAX_TRACING || !canTrace()) return;
    const next = this.#updates.next(head.hash, target, now());
    if (next) void this.#trace(next.sender, next.slot, head, target);
  }

  /** Finds the head for a process whose clients request nothing. */
  #poll(): void {
    const { now, heads } = this.#options;
    if (now() - this.#polledAt < RETRY_MS) return;
    this.#polledAt = now();
    heads.head().catch(() => undefined); // A request sees why.
  }

  /** Never rejects. */
  async #trace(sender: OwnSender, slot: OwnSlot, { hash }: BlockRef, target: TargetBlock): Promise<void> {
    const { rpc, chainId, count, now } = this.#options;
    const { update } = slot;
    sender.isTracing = true;
    this.#tracing += 1;
    try {
      const call = await traceableCall(update.tx, chainId);
      const written = call && (await traceWrites(rpc, call, { hash, target, signal: this.#closed.signal }));
      const venues = written && this.#read(() => checkBounds(new Map([[slot.venue, written]])));
      this.#updates.settle(slot, update, hash, venues?.get(slot.venue));
      this.#send();
    } catch (error) {
      if (slot.update === update) slot.retryAt = now() + RETRY_MS;
      if (!this.#closed.signal.aborted) count(faultOf(error));
    } finally {
      sender.isTracing = false;
      this.#tracing -= 1;
    }
  }

  /**
   * Says all that updates write after the head, and which of them write nothing any more. It says nothing of others that the
   * process which read the source before knew: what they write holds until it is too old.
   *
   * @param ended venues that may be known to that process alone
   */
  #send(ended: readonly Address[] = []): void {
    const { heads, now, onFrame } = this.#options;
    const head = heads.announced?.block;
    if (!head || this.#closed.signal.aborted) return;
    const written = this.#updates.overrides(head.hash);
    const without = [...ended, ...this.#sent].filter((venue) => !written.has(venue));
    if (written.size + without.length === 0) return;
    this.#sent = [...written.keys()];
    this.#sentAt = now();
    const venues = new Map([...without.map((venue): [Address, StateOverrides] => [venue, new Map()]), ...written]);
    onFrame({ blockNumber: head.number + 1n, timestamp: null, venues, isComplete: false });
  }

  /** Reads something, or counts what is wrong with it. */
  #read<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#options.count(error.code);
      return undefined;
    }
  }
}

function faultOf(error: unknown): SourceFault {
  const code = error instanceof RpcFailure ? error.code : 'malformed';
  return code === 'timeout' || code === 'refused' || code === 'malformed' ? code : 'unreachable';
}
