import type { Clock } from '../../chain/circuit-breaker.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import {
  type LiveConfig,
  type LiveSourceConfig,
  liveMaxAgeMs,
  type RemoteSourceConfig,
} from '../../config/live-schema.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Frame } from './frame.ts';
import { LiveSource, type SourceFault } from './live-source.ts';
import { OwnSource, type OwnSourceDeps } from './own-source.ts';
import { FrameMerger, type FrameOutcome, type PendingWords } from './pending-words.ts';

export interface LiveFeedDeps {
  /** The committed head; undefined until the chain was read. */
  readonly headNumber: () => bigint | undefined;
  /** Counts each frame, and each message, request or connection that brought none, by kind of the source. */
  readonly count: (kind: LiveSourceConfig['kind'], outcome: FrameOutcome | SourceFault) => void;
  /** Holds the keys that `apiKeyEnv` names. */
  readonly env: Environment;
  /** What the source of kind `own` needs. Absent: it is off. */
  readonly own?: OwnSourceDeps | undefined;
  readonly logger: Logger;
  /** Default: `performance.now`. */
  readonly now?: Clock;
}

/** What gives the pending words of a chain. */
export type FeedOfWords = Pick<LiveFeed, 'state' | 'onFrame' | 'close'>;

type ChainOfFeed = Pick<ChainConfig, 'chainId' | 'blockTimeMs'> & { readonly live?: LiveConfig | undefined };

/** The pending words of one chain, merged from all of its live sources. */
export class LiveFeed {
  readonly #merger: FrameMerger;
  readonly #headNumber: LiveFeedDeps['headNumber'];
  readonly #listeners = new Set<() => void>();
  readonly #sources: readonly { close(): void }[];

  /** Opens the sources; {@link openLiveFeed} reads their keys. */
  constructor(
    { chainId, blockTimeMs, live }: ChainOfFeed & { readonly live: LiveConfig },
    { headNumber, count, env, own, logger, now = () => performance.now() }: LiveFeedDeps,
  ) {
    this.#headNumber = headNumber;
    this.#merger = new FrameMerger(liveMaxAgeMs(live, blockTimeMs), now);
    this.#sources = live.sources.flatMap((config): readonly { close(): void }[] => {
      const onFrame = (frame: Frame) => {
        const outcome = this.#take(config, frame);
        count(config.kind, outcome);
        return outcome === 'used';
      };
      const countFault = (fault: SourceFault) => count(config.kind, fault);
      const options = { chainId, onFrame, count: countFault, now };
      if (config.kind === 'own') return own ? [new OwnSource({ ...options, ...own, blockTimeMs })] : [];
      return [new LiveSource({ ...options, config, apiKey: keyOf(config, env), logger: logger.child({ chainId }) })];
    });
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
    return this.#merger.state();
  }

  close(): void {
    this.#listeners.clear();
    for (const source of this.#sources) source.close();
  }

  #take(source: LiveSourceConfig, frame: Frame): FrameOutcome {
    const outcome = this.#merger.take(source, frame, this.#headNumber());
    if (outcome === 'used') for (const listener of this.#listeners) listener();
    return outcome;
  }
}

/**
 * Opens the live sources of a chain.
 *
 * @returns undefined when the chain has none, or all are off, as without their key
 * @throws ConfigError when the file of a key cannot be read
 */
export function openLiveFeed({ live, ...chain }: ChainOfFeed, deps: LiveFeedDeps): LiveFeed | undefined {
  const { chainId } = chain;
  const sources = (live?.sources ?? []).filter((config) => {
    if (config.kind === 'own') return deps.own !== undefined;
    const isUsable = config.apiKeyEnv === undefined || keyOf(config, deps.env) !== undefined;
    const { kind, apiKeyEnv } = config;
    if (!isUsable) deps.logger.warn({ chainId, kind, apiKeyEnv }, 'live source is off: its key is not set');
    return isUsable;
  });
  return sources.length === 0 ? undefined : new LiveFeed({ ...chain, live: { ...live, sources } }, deps);
}

const keyOf = ({ apiKeyEnv }: RemoteSourceConfig, env: Environment): string | undefined =>
  apiKeyEnv === undefined ? undefined : readSecret(apiKeyEnv, env);
