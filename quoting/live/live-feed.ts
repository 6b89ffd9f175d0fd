import { createHash } from 'node:crypto';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type LiveConfig, type LiveSourceConfig, liveMaxAgeMs } from '../../config/live-schema.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Frame } from './frame.ts';
import { FrameMerger, type FrameOutcome } from './frame-merger.ts';
import type { LiveObserver } from './live-metrics.ts';
import { LiveSource, type SourceFault } from './live-source.ts';
import { OwnSource, type OwnSourceDeps } from './own-source.ts';
import type { SharedOverrides } from './shared-overrides.ts';
import type { MergedSource, PendingOverrides } from './sourced-block.ts';

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
  /** Opens a source that gives frames, and says whether they were used. Default: by its kind, over the network. */
  readonly openSource?: (config: LiveSourceConfig, onFrame: (frame: Frame) => boolean) => Source;
  /** Default: `performance.now`. */
  readonly now?: Clock;
}

interface Source {
  close(): void;
}

/** How processes name a source to each other: `id` is the same where it is configured alike. */
export interface SourceName extends MergedSource {
  readonly id: string;
}

/**
 * The pending overrides of one chain, merged from all of its live sources. One process reads these for all; the others take what
 * it shares, and when one of them becomes the reader, it continues from there.
 */
export class LiveFeed {
  readonly #merger: FrameMerger<SourceName>;
  readonly #deps: LiveFeedDeps;
  readonly #listeners = new Set<() => void>();
  readonly #openers: readonly (() => Source)[];
  /** By id, also those that only other processes have configured. */
  readonly #names = new Map<string, SourceName>();
  #sources: readonly Source[] | undefined;
  #isClosed = false;

  /** Reads no source yet. A source whose key is not set is off. @throws ConfigError when the file of a key cannot be read */
  constructor({ chainId, blockTimeMs, live }: LiveChain, deps: LiveFeedDeps) {
    const { observer, env, own, logger, openSource, now = () => performance.now() } = deps;
    this.#deps = deps;
    this.#merger = new FrameMerger(liveMaxAgeMs(live, blockTimeMs), now);
    this.#openers = live.sources.flatMap((config): (() => Source)[] => {
      const { kind } = config;
      const source = this.#nameOf({ id: idOf(config), republish: config.republish });
      const onFrame = (frame: Frame) => this.#take(kind, source, frame) === 'used';
      if (openSource) return [() => openSource(config, onFrame)];
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
    return this.#openers.length === 0;
  }

  get isReading(): boolean {
    return this.#sources !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the sources, unless they are. */
  read(): void {
    if (!this.#isClosed) this.#sources ??= this.#openers.map((open) => open());
  }

  /** Closes the sources: another process reads them. */
  rest(): void {
    for (const source of this.#sources ?? []) source.close();
    this.#sources = undefined;
  }

  /** Takes what the process that reads the sources shares. Changes nothing while this one reads them. */
  take(overrides: SharedOverrides<SourceName>): void {
    if (this.#sources) return;
    const named = overrides.map((block) => ({
      ...block,
      sources: block.sources.map(({ source, parts }) => ({ source: this.#nameOf(source), parts })),
    }));
    this.#merger.adopt(named);
    this.#announce();
  }

  /**
   * Calls the listener, which must not throw, after each frame that was used: the overrides may be as before. They are only
   * merged when {@link state} is called.
   *
   * @returns removes the listener
   */
  onFrame(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The pending overrides now; undefined when there are none. Their block may have landed since: compare the head. */
  state(): PendingOverrides | undefined {
    return this.#merger.state(this.#deps.top());
  }

  /** What other processes are to take; undefined while this one reads no source, or knows nothing yet. */
  shared(): SharedOverrides<SourceName> | undefined {
    const overrides = this.#sources && this.#merger.shared(this.#deps.top());
    return overrides?.length ? overrides : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.rest();
  }

  /** The same object for the same id: the merger tells sources apart by it. */
  #nameOf(name: SourceName): SourceName {
    const known = this.#names.get(name.id) ?? name;
    this.#names.set(name.id, known);
    return known;
  }

  #take(kind: LiveSourceConfig['kind'], source: SourceName, frame: Frame): FrameOutcome {
    const outcome = this.#merger.take(source, frame, this.#deps.top());
    this.#deps.observer?.count(kind, outcome);
    for (const [entry, count] of frame.skipped ?? []) this.#deps.observer?.skipped(kind, entry, count);
    if (outcome === 'used') this.#announce();
    return outcome;
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Shows nothing of the source: its URLs may hold keys. */
const idOf = (config: LiveSourceConfig): string =>
  createHash('sha256').update(JSON.stringify(config)).digest('base64url').slice(0, 11);
