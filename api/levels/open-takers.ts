import type { Clocks } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Stamp } from '../../runtime/shared-clock.ts';
import type { QuotesByChain } from '../latest/chain-quotes.ts';
import { servedChain } from '../request.ts';
import { type ChooseDeps, createPoolChooser } from './choose-pools.ts';
import { FrameFeeds } from './frame-feed.ts';
import { OverrideFrames } from './override-frames.ts';
import { ChainShares } from './pool-shares.ts';
import { PriceLevels } from './price-levels.ts';
import type { TakersChain } from './taker-calls.ts';
import { TakerQuotes } from './taker-quotes.ts';
import type { LevelsChain } from './write-levels.ts';

export interface OpenTakersDeps extends ChooseDeps, Clocks {
  readonly chains: ReadonlyMap<number, LevelsChain>;
  readonly latest: QuotesByChain;
  readonly logger: Logger;
  /** Says when a frame or quote was made. */
  readonly stamp: Stamp;
}

/** Makes what takers call on each chain, over the latest quotes of all. */
export function openTakers({
  chains,
  latest,
  logger,
  now,
  wallClock,
  stamp,
  ...deps
}: OpenTakersDeps): ReadonlyMap<number, TakersChain> {
  const choose = createPoolChooser(deps);
  const feeds = new FrameFeeds(logger, now);
  return new Map(
    [...chains].map(([chainId, chain]) => {
      const levels = new PriceLevels({
        chain,
        latest: servedChain(latest, `${chainId}`),
        choose,
        shares: new ChainShares({ chainId, database: deps.database, logger, now, wallClock }),
        feeds,
        now,
        stamp,
      });
      const overrides = new OverrideFrames(chain, feeds, stamp);
      const quotes = new TakerQuotes({ chain, directory: deps.directory, now, stamp });
      return [chainId, { chain, levels, overrides, quotes, now }];
    }),
  );
}
