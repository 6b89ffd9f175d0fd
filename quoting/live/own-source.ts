import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { traceWrites } from '../../chain/trace-writes.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { Heads } from '../heads/heads.ts';
import { checkBounds, type Frame, FrameError } from './frame.ts';
import type { SourceFault } from './live-source.ts';
import { isIdle, nextOwn, noUpdates, type OwnEvent } from './next-own.ts';
import { parseOwnUpdate } from './own-update.ts';
import { OWN_BOUNDS, type OwnTrace } from './own-updates.ts';
import { traceableCall } from './traceable-call.ts';

/** What the source of kind `own` needs of its chain. */
export interface OwnSourceDeps {
  /** Gives what an update writes in the block being built; undefined where that cannot be found. */
  readonly find: (trace: OwnTrace, signal: AbortSignal) => Promise<StateOverrides | undefined>;
  readonly heads: Pick<Heads, 'announced' | 'head'>;
  /** Passes on the messages of `ownUpdatesChannel`. @returns ends that */
  readonly listen: (listener: (text: string) => void) => () => void;
  /** Whether nodes find writes now. */
  readonly canTrace: () => boolean;
}

export interface OwnSourceOptions extends OwnSourceDeps, Clocks {
  readonly blockTimeMs: number;
  /** Takes a frame. Must not throw. */
  readonly onFrame: (frame: Frame) => void;
  readonly count: (fault: SourceFault) => void;
}

/** Finds what updates write by nodes of a chain that trace their transactions. */
export const tracesBy =
  (rpc: ChainRpc, chainId: number): OwnSourceDeps['find'] =>
  async ({ update, hash, target }, signal) => {
    const call = await traceableCall(update.tx, chainId);
    return call && traceWrites(rpc, call, { hash, target, signal });
  };

/** At most one trace begins in each of these: 50 a second. */
const TICK_MS = 20;

/**
 * Makes frames of the quote updates that pass through this service. An update's overrides are what it would write in
 * the block after the committed head: it is traced there when {@link nextOwn} says so, at most 50 updates a second.
 */
export class OwnSource {
  readonly #options: OwnSourceOptions;
  readonly #stopListening: () => void;
  /** Runs while an update is known. */
  #timer: NodeJS.Timeout | undefined;
  readonly #closed = new AbortController();
  #state = noUpdates;

  /** Begins to listen. */
  constructor(options: OwnSourceOptions) {
    this.#options = options;
    this.#stopListening = options.listen((text) => this.#takeUpdate(text));
  }

  /** Ends requests. No callback is called after that. */
  close(): void {
    this.#closed.abort();
    this.#stopListening();
    clearInterval(this.#timer);
  }

  get #head() {
    return this.#options.heads.announced?.block;
  }

  #takeUpdate(text: string): void {
    const update = this.#read(() => parseOwnUpdate(text));
    if (!update || this.#options.wallClock() - update.sentAtMs > OWN_BOUNDS.ageMs) return;
    this.#take({ kind: 'update', update, head: this.#head });
  }

  #take(event: OwnEvent): void {
    const { now, blockTimeMs, heads, onFrame, canTrace } = this.#options;
    const [state, { frame, trace, poll }] = nextOwn(this.#state, event, now(), blockTimeMs);
    this.#state = state;
    if (this.#closed.signal.aborted) return;
    if (isIdle(state)) clearInterval(this.#timer);
    const tick = () => this.#take({ kind: 'time', canTrace: canTrace(), head: this.#head });
    this.#timer = isIdle(state) ? undefined : (this.#timer ?? setInterval(tick, TICK_MS).unref());
    if (frame) onFrame(frame);
    if (trace) void this.#trace(trace);
    if (poll) heads.head().catch(() => undefined); // A request sees why.
  }

  /** Never rejects. */
  async #trace(trace: OwnTrace): Promise<void> {
    const ended = await this.#writtenBy(trace).then(
      (overrides) => ({ kind: 'traced', trace, overrides }) as const,
      (error) => {
        if (!this.#closed.signal.aborted) this.#options.count(faultOf(error));
        return { kind: 'failed', trace } as const;
      },
    );
    this.#take({ ...ended, head: this.#head });
  }

  /** @returns undefined where that cannot be used */
  async #writtenBy(trace: OwnTrace): Promise<StateOverrides | undefined> {
    const { venue } = trace;
    const written = await this.#options.find(trace, this.#closed.signal);
    return written && this.#read(() => checkBounds(new Map([[venue, written]])))?.get(venue);
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
