import { createHash } from 'node:crypto';
import type { PendingState } from '../../chain/pending-state.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type LiveConfig, type LiveSourceConfig, liveMaxAgeMs } from '../../config/live-schema.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Clock, Clocks } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Frame } from './frame.ts';
import {
  type FrameOutcome,
  type MergedFrames,
  type MergeEvent,
  nextMerged,
  noFrames,
  pendingOverrides,
  sharedOverrides,
} from './frame-merger.ts';
import type { LiveObserver } from './live-metrics.ts';
import { LiveSource, type SourceFault } from './live-source.ts';
import { OwnSource, type OwnSourceDeps } from './own-source.ts';
import { holdersOf } from './price-holders.ts';
import type { SharedOverrides } from './shared-overrides.ts';
import type { StoredWord } from './slot-map.ts';
import type { SourceName } from './source-parts.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** A chain with sources of live prices. */
export type LiveChain = Pick<ChainConfig, 'chainId' | 'blockTimeMs'> & { readonly live: LiveConfig };

export interface LiveFeedDeps extends Clocks {
  /** Height of the newest block that was seen; undefined while that is not known. */
  readonly top: () => bigint | undefined;
  readonly observer?: LiveObserver | undefined;
  /** Holds the keys that `apiKeyEnv` names. */
  readonly env: Environment;
  /** What the source of kind `own` needs. Absent: it is off. */
  readonly own?: OwnSourceDeps | undefined;
  readonly logger: Logger;
  /** Opens a source that gives frames, and says whether they were used. Default: by its kind, over the network. */
  readonly openSource?: ((config: LiveSourceConfig, onFrame: (frame: Frame) => boolean) => Source) | undefined;
}

interface Source {
  close(): void;
}

/**
 * The pending overrides of one chain, merged from all of its live sources. One process reads these for all; the others
 * take what it shares, and when one of them becomes the reader, it continues from there.
 */
export class LiveFeed {
  readonly now: Clock;
  readonly #deps: LiveFeedDeps;
  readonly #maxAgeMs: number;
  #frames: MergedFrames = noFrames;
  readonly #listeners = new Set<() => void>();
  readonly #openers: readonly (() => Source)[];
  /** By id. */
  readonly #configured = new Map<string, SourceName>();
  readonly #names = new Map<string, string>();
  #sources: readonly Source[] | undefined;
  #isClosed = false;

  /**
   * Reads no source yet. A source whose key is not set is off.
   *
   * @throws ConfigError when the file of a key cannot be read
   */
  constructor({ chainId, blockTimeMs, live }: LiveChain, deps: LiveFeedDeps) {
    const { observer, env, own, logger, openSource, now, wallClock } = deps;
    this.#deps = deps;
    this.#maxAgeMs = liveMaxAgeMs(live, blockTimeMs);
    this.now = now;
    this.#openers = live.sources.flatMap((config): (() => Source)[] => {
      if (config.kind === 'preconfirmed') return [];
      const { kind } = config;
      const source = { id: idOf(config), republish: config.republish };
      this.#configured.set(source.id, source);
      this.#names.set(source.id, config.name ?? kind);
      const onFrame = (frame: Frame) => this.#takeFrame(kind, source, frame) === 'used';
      if (openSource) return [() => openSource(config, onFrame)];
      const options = { chainId, onFrame, count: (fault: SourceFault) => observer?.count(kind, fault), now };
      if (kind === 'own') return own ? [() => new OwnSource({ ...options, ...own, blockTimeMs, wallClock })] : [];
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
    const blocks = overrides.map((block) => ({
      ...block,
      sources: block.sources.map(({ source, parts }) => ({ source: this.#configured.get(source.id) ?? source, parts })),
    }));
    this.#take({ kind: 'shared', blocks });
  }

  /**
   * Calls the listener, which must not throw, after each frame that was used: the overrides may be as before. They are
   * only merged when {@link state} is called.
   *
   * @returns removes the listener
   */
  onFrame(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The pending overrides now; undefined when there are none. Their block may have landed since: compare the head. */
  state(): PendingOverrides | undefined {
    const [frames, overrides] = pendingOverrides(this.#frames, this.#deps.top(), this.now(), this.#maxAgeMs);
    this.#frames = frames;
    return overrides;
  }

  /**
   * Names the sources that now hold a price of a block that is being built; null while that is not known. A source
   * without a name of its own has that of its kind.
   *
   * @param words those that the price reads; null: it is not known which
   */
  holders(pending: PendingState, words: readonly StoredWord[] | null): readonly string[] | null {
    const at = { now: this.now(), maxAgeMs: this.#maxAgeMs };
    const names = holdersOf(this.#frames, pending, words, at)?.map((id) => this.#names.get(id));
    // Another process may have a source that this one does not.
    return names?.every((name) => name !== undefined) ? names : null;
  }

  /** What other processes are to take; undefined while this one reads no source, or knows nothing yet. */
  shared(): SharedOverrides<SourceName> | undefined {
    if (!this.#sources) return undefined;
    const overrides = sharedOverrides(this.#frames, this.#deps.top(), this.now(), this.#maxAgeMs);
    return overrides.length > 0 ? overrides : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.rest();
  }

  #takeFrame(kind: LiveSourceConfig['kind'], source: SourceName, frame: Frame): FrameOutcome {
    const { observer, top } = this.#deps;
    const outcome = this.#take({ kind: 'frame', source, frame, top: top() });
    observer?.count(kind, outcome);
    for (const [entry, count] of frame.skipped ?? []) observer?.skipped(kind, entry, count);
    return outcome;
  }

  #take(event: MergeEvent): FrameOutcome {
    const [frames, outcome] = nextMerged(this.#frames, event, this.now(), this.#maxAgeMs);
    this.#frames = frames;
    if (outcome === 'used') for (const listener of this.#listeners) listener();
    return outcome;
  }
}

/** Shows nothing of the source: its URLs may hold keys. It stays the same when the source is renamed. */
const idOf = ({ name: _, ...config }: LiveSourceConfig & { readonly name?: string | undefined }): string =>
  createHash('sha256').update(JSON.stringify(config)).digest('base64url').slice(0, 11);
