import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Words } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { traceWrites } from '../../chain/trace-writes.ts';
import type { Heads } from '../heads/heads.ts';
import { checkBounds, type Frame, FrameError } from './frame.ts';
import type { SourceFault } from './live-source.ts';
import { type OwnUpdate, parseOwnUpdate } from './own-update.ts';
import { OWN_BOUNDS, type OwnSender, type OwnSlot, type OwnTarget, OwnUpdates } from './own-updates.ts';
import { signedCall } from './signed-call.ts';

/** What the source of kind `own` needs of its chain. */
export interface OwnSourceDeps {
  readonly rpc: ChainRpc;
  readonly heads: Pick<Heads, 'told' | 'head'>;
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
/** How often words that still hold are sent again. */
const RENEW_MS = 250;
/** After a trace that failed; and between two polls of a chain that nothing else asks for its head. */
const RETRY_MS = 1_000;

const NO_WORDS: Words = new Map();

/**
 * Makes frames of the quote updates that pass through this service. An update's words are what it would write in the block
 * after the committed head: it is traced at each head that it is good for. It traces at most 50 updates a second, 4 at a time.
 */
export class OwnSource {
  readonly #options: OwnSourceOptions;
  readonly #updates = new OwnUpdates();
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #closed = new AbortController();
  #tracing = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
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
    const slot = this.#updates.take(update, this.#options.now());
    const head = this.#options.heads.told?.block;
    if (slot && head && update.tx === '0x') this.#show(slot, this.#targetOf(head), NO_WORDS);
  }

  #tick(): void {
    const { heads, now, canTrace } = this.#options;
    const head = heads.told?.block;
    if (this.#updates.isEmpty) return;
    if (!head) {
      this.#poll();
      return;
    }
    const target = this.#targetOf(head);
    this.#updates.expire(target, now());
    if (now() - this.#renewedAt >= RENEW_MS) this.#renew(head, target);
    if (this.#tracing >= MAX_TRACING || !canTrace()) return;
    const next = this.#updates.next(head.hash, target, now());
    if (next) void this.#trace(next.sender, next.slot, head, target);
  }

  #targetOf({ number, timestamp }: BlockRef): OwnTarget {
    const secs = Math.round(this.#options.blockTimeMs / 1_000);
    return { blockNumber: number + 1n, timestamp: timestamp + BigInt(secs) };
  }

  /** Finds the head for a process whose clients request nothing. */
  #poll(): void {
    const { now, heads } = this.#options;
    if (now() - this.#polledAt < RETRY_MS) return;
    this.#polledAt = now();
    heads.head().catch(() => undefined); // A request sees why.
  }

  /** Never rejects. */
  async #trace(sender: OwnSender, slot: OwnSlot, head: BlockRef, target: OwnTarget): Promise<void> {
    const { rpc, chainId, count, now } = this.#options;
    const { update } = slot;
    sender.isTracing = true;
    this.#tracing += 1;
    try {
      slot.call ??= signedCall(update.tx, chainId);
      const call = await slot.call;
      const words = call ? await traceWrites(rpc, call, head.hash, target, this.#closed.signal) : NO_WORDS;
      if (slot.update === update) slot.tracedAt = head.hash;
      if (slot.update.tx !== '0x') this.#show(slot, target, words);
    } catch (error) {
      if (slot.update === update) slot.retryAt = now() + RETRY_MS;
      if (!this.#closed.signal.aborted) count(faultOf(error));
    } finally {
      sender.isTracing = false;
      this.#tracing -= 1;
    }
  }

  /** Says what an update writes, unless nothing is known of its venue and nothing is to be said. */
  #show(slot: OwnSlot, { blockNumber }: OwnTarget, words: Words): void {
    if (this.#closed.signal.aborted || (words.size === 0 && !slot.words?.size)) return;
    const frameOf = (venueWords: Words): Frame => {
      const venues = new Map([[slot.venue, venueWords]]);
      return { blockNumber, timestamp: null, venues, isComplete: false };
    };
    const frame = this.#read(() => checkBounds(frameOf(words))) ?? frameOf(NO_WORDS);
    slot.words = frame.venues.get(slot.venue);
    this.#options.onFrame(frame);
  }

  #renew({ hash }: BlockRef, { blockNumber }: OwnTarget): void {
    const venues = this.#updates.words(hash);
    if (venues.size === 0) return;
    this.#renewedAt = this.#options.now();
    this.#options.onFrame({ blockNumber, timestamp: null, venues, isComplete: false });
  }

  /** Reads something, or counts what is wrong with it. */
  #read<T extends OwnUpdate | Frame>(read: () => T): T | undefined {
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
