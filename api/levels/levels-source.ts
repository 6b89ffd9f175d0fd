import { quotesOf } from '../../quoting/open-chain.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import type { ChainQuotes } from '../latest/chain-quotes.ts';
import { ChosenPools, type ChosenPoolsDeps } from './chosen-pools.ts';
import type { FrameSource } from './frame-feed.ts';
import type { Made } from './frame-schedule.ts';
import { firstAlike, lookAt, versionsOf } from './latest-depths.ts';
import { maxUnreadMs } from './next-awaited.ts';
import {
  type FrameEffect,
  type LevelsEffect,
  type LevelsEvent,
  type LevelsLimits,
  type LevelsState,
  MAX_MS,
  newLevels,
  nextLevels,
} from './next-levels.ts';
import type { LevelQuotes } from './one-state.ts';
import type { ChainShares } from './pool-shares.ts';
import { LEVELS_INTERVAL_MS, type ShownShape, writeLevels } from './write-levels.ts';

export interface LevelsSourceDeps extends Pick<ShownShape, 'now' | 'stamp'>, ChosenPoolsDeps {
  readonly latest: ChainQuotes;
  readonly shares: Pick<ChainShares, 'of'>;
}

/**
 * Makes the frames of a query from the latest depths of its pools, which it keeps requested and chooses again each
 * time: does at the right time what {@link nextLevels} says.
 */
export class LevelsSource implements FrameSource {
  readonly #deps: LevelsSourceDeps;
  readonly minMs = LEVELS_INTERVAL_MS;
  readonly maxMs = MAX_MS;
  readonly maxLateMs: number;
  readonly isOfAnyone: boolean;
  readonly #quotes: LevelQuotes;
  readonly #limits: LevelsLimits;
  #state: LevelsState;
  readonly #pools: ChosenPools;

  constructor(deps: LevelsSourceDeps) {
    this.#deps = deps;
    const { chain, query, byKey, now } = deps;
    this.isOfAnyone = !byKey && !query.isPublic;
    this.#limits = { isPublic: query.isPublic === true, maxUnreadMs: maxUnreadMs(chain) };
    this.maxLateMs = 2 * this.#limits.maxUnreadMs;
    this.#quotes = quotesOf<LevelQuotes>(chain, query.basis);
    this.#pools = new ChosenPools(deps, this.#quotes.requested);
    this.#state = newLevels(now());
  }

  start(changed: () => void): () => void {
    const { latest } = this.#deps;
    // The head stays known where there is no pool to read.
    const stopWatching = this.#quotes.heads.watch();
    const stopListening = latest.onRead(({ kind }) => {
      if (kind !== 'depths') return;
      const versions = versionsOf(latest.depths, this.#pools.shown);
      if (this.#take({ kind: 'read', versions }).kind === 'changed') changed();
    });
    return () => {
      stopListening();
      stopWatching();
      this.#pools.release();
    };
  }

  async make(): Promise<Made> {
    this.#pools.renew();
    const effect = this.#take(this.#due());
    if (effect.kind === 'frame') return this.#write(effect);
    return effect.kind === 'late' ? 'late' : null;
  }

  #take(event: LevelsEvent<DepthSnapshot>): LevelsEffect<DepthSnapshot> {
    const [state, effect] = nextLevels(this.#state, event, this.#deps.now(), this.#limits);
    this.#state = state;
    return effect;
  }

  #due(): LevelsEvent<DepthSnapshot> {
    const { chain, byKey, latest } = this.#deps;
    const { heads } = this.#quotes;
    const newest = heads.announced?.block;
    const pools = this.#pools.shown.filter((pool) => byKey || !chain.estimates.isReadForKeys(pool));
    return {
      kind: 'due',
      versions: versionsOf(latest.depths, this.#pools.shown),
      announced: newest && !heads.isTooOld(newest) ? newest : null,
      found: this.#pools.found,
      wanted: pools.length,
      look: lookAt(latest.depths, pools, this.#quotes.snapshots),
    };
  }

  async #write({ block, snapshots, unread }: FrameEffect<DepthSnapshot>): Promise<Made> {
    const { chain, latest, shares, now, stamp, query } = this.#deps;
    const { format, venue, levels, isPublic } = query;
    const alike = (snapshot: DepthSnapshot) => firstAlike(latest.depths, snapshot);
    const shape = { format, venue, levels, now, stamp, shares, alike, omitted: isPublic && unread };
    const json = await writeLevels(chain, shape, block, snapshots);
    return json === null ? 'late' : { frame: Buffer.from(json), block };
  }
}
