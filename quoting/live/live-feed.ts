import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type LiveConfig, type LiveSourceConfig, liveMaxAgeMs } from '../../config/live-schema.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PendingWords } from './block-words.ts';
import type { Frame } from './frame.ts';
import type { LiveObserver } from './live-metrics.ts';
import { LiveSource, type SourceFault } from './live-source.ts';
import { OwnSource, type OwnSourceDeps } from './own-source.ts';
import { FrameMerger, type FrameOutcome } from './pending-words.ts';

/** A chain with sources of live prices. */
export type LiveChain = Pick<ChainConfig, 'chainId' | 'blockTimeMs'> & { readonly live: LiveConfig };

export interface LiveFeedDeps {
  /** Height of the newest block that was seen; undefined while that is not known. */
  readonly top: () => bigint | undefined;
  readonly observer?: LiveObserver | undefined;
  /** Holds the keys that `apiKeyEnv` names. */
  readonly env: Environment;
  /** What the source of kind `own` needs. Absent: it is off. */
  readonly own?: OwnSourceDeps | undefined;
  readonly logger: Logger;
  /** Default: `performance.now`. */
  readonly now?: Clock;
}

interface Source {
  close(): void;
}

/** The pending words of one chain: merged from all of its live sources, or taken from the process that reads these for all. */
export class LiveFeed {
  readonly #merger: FrameMerger;
  readonly #deps: LiveFeedDeps;
  readonly #listeners = new Set<() => void>();
  readonly #open: readonly (() => Source)[];
  #sources: readonly Source[] | undefined;
  #others: PendingWords | undefined;
  #isClosed = false;

  /** Reads no source yet. A source whose key is not set is off. @throws ConfigError when the file of a key cannot be read */
  constructor({ chainId, blockTimeMs, live }: LiveChain, deps: LiveFeedDeps) {
    const { observer, env, own, logger, now = () => performance.now() } = deps;
    this.#deps = deps;
    this.#merger = new FrameMerger(liveMaxAgeMs(live, blockTimeMs), now);
    this.#open = live.sources.flatMap((config): (() => Source)[] => {
      const { kind } = config;
      const onFrame = (frame: Frame) => this.#take(config, frame) === 'used';
      const options = { chainId, onFrame, count: (fault: SourceFault) => observer?.count(kind, fault), now };
      if (kind === 'own') return own ? [() => new OwnSource({ ...options, ...own, blockTimeMs })] : [];
      const { apiKeyEnv } = config;
      const apiKey = apiKeyEnv && readSecret(apiKeyEnv, env);
      if (!apiKeyEnv || apiKey) return [() => new LiveSource({ ...options, config, apiKey, logger })];
      logger.warn({ kind, apiKeyEnv }, 'live source is off: its key is not set');
      return [];
    });
  }

  /** Whether all sources are off. */
  get isOff(): boolean {
    return this.#open.length === 0;
  }

  get isReading(): boolean {
    return this.#sources !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the sources, unless they are. */
  read(): void {
    if (!this.#isClosed) this.#sources ??= this.#open.map((open) => open());
  }

  /** Closes the sources: another process reads them. */
  rest(): void {
    for (const source of this.#sources ?? []) source.close();
    this.#sources = undefined;
  }

  /** Takes what another process read. */
  take(words: PendingWords): void {
    this.#others = words;
    if (!this.#sources) this.#tell();
  }

  /**
   * Calls the listener, which must not throw, after each frame that was used: the words may be as before. They are only
   * merged when {@link state} is called.
   *
   * @returns removes the listener
   */
  onFrame(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The pending words now; undefined when there are none. Their block may have landed since: compare the head. */
  state(): PendingWords | undefined {
    return this.merged() ?? this.#others;
  }

  /** Those that this process merged from the sources; undefined while it reads none. */
  merged(): PendingWords | undefined {
    return this.#sources && this.#merger.state(this.#deps.top());
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.rest();
  }

  #take(source: LiveSourceConfig, frame: Frame): FrameOutcome {
    const outcome = this.#merger.take(source, frame, this.#deps.top());
    this.#deps.observer?.count(source.kind, outcome);
    for (const [entry, count] of frame.skipped ?? []) this.#deps.observer?.skipped(source.kind, entry, count);
    if (outcome === 'used') this.#tell();
    return outcome;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
