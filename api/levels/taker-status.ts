import type { BlockRef } from '../../chain/read-context.ts';
import { liveMaxAgeMs } from '../../config/live-schema.ts';
import { passedOn, targetOf } from '../../quoting/live/target-block.ts';
import type { StatusResult } from './status-schema.ts';
import { LEVELS_INTERVAL_MS, type LevelsChain, lastWritten } from './write-levels.ts';

/** How many clients of this process read frames of a chain. */
export interface TakerCounts {
  readonly levels: number;
  readonly overrides: number;
}

/**
 * Says whether a chain is read, and how much is passed on: the fields of relayers.
 * What this service does not have is 0.
 *
 * @param block what is shown was read at it; null when the newest block is late, and then the last one known counts
 */
export function takerStatus(
  chain: LevelsChain,
  block: BlockRef | null,
  { levels, overrides }: TakerCounts,
): StatusResult {
  const { live, pamm, blockTimeMs } = chain;
  const shown = block ?? (chain.liveQuotes ?? chain).heads.current?.block;
  const target = shown && targetOf(shown, chain);
  // What is late has no live prices.
  const venues = [...((block && target && passedOn(block, target)) ?? [])];
  const slots = venues.flatMap(([, accounts]) =>
    [...accounts].flatMap(([account, words]) => [...words.keys()].map((slot) => `${account}${slot}`)),
  );
  return {
    ready: block !== null,
    targetBlock: target ? Number(target.blockNumber) : 0,
    quotes: venues.length,
    liveQuotes: venues.length,
    overlaySlots: new Set(slots).size,
    // Regions of one builder share its name.
    builders: [...new Set(pamm?.builders.map(({ id }) => id))],
    pendingBundles: 0,
    maxQuoteAgeMs: live ? liveMaxAgeMs(live, blockTimeMs) : 0,
    quoteStreamSubscribers: overrides,
    priceLevels: { intervalMs: LEVELS_INTERVAL_MS, subscribers: levels, ...lastWritten(chain) },
  };
}
