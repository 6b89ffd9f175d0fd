import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { type CaptureChain, type CaptureDeps, nowSecs, poolsOf, wallClock } from '../capture-chain.ts';
import { adaptive, fixed, type Job, jobsOfChain } from '../job.ts';
import { createDepthRecorder } from './record-depth.ts';
import { recordFiatPrices } from './record-fiat-prices.ts';
import { recordFills } from './record-fills.ts';
import { recordLandings } from './record-landings.ts';
import { recordQuotes } from './record-quotes.ts';
import { writeTrends } from './write-trends.ts';

/** What a chain's pools quoted and how they filled. Calls are those that price reads do not need soon. */
export function chainHistoryJobs(
  { chain, budget, rpcs, budgeted, pools, sealed, database, logger }: CaptureChain,
  { file }: Pick<CaptureDeps, 'file'>,
): Job[] {
  const { chainId } = chain;
  const hasSpareCalls = () => budget.hasSpare('funded');
  const reserve = () => budget.reserveSpare('funded');
  const recordDepth = createDepthRecorder({ database, chain, rpc: rpcs.funded, reserve, wallClock, logger });
  const quotes = { database, chainId, pools, kept: file.history, recordDepth };
  const fills = { database, chainId, rpc: budgeted, pools, hasSpareCalls };
  return jobsOfChain(chainId, {
    'quote-history': { pace: adaptive(5), run: () => recordQuotes(quotes, nowSecs()) },
    trends: { pace: fixed(60), run: () => writeTrends(database, chainId) },
    fills: { pace: adaptive(5), run: () => recordFills(fills) },
    ...(sealed && { sealed: { pace: fixed(60), run: () => sealed.counts.store(database, chainId) } }),
    landings: { pace: adaptive(5), run: () => recordLandings(fills) },
  });
}

/** What tokens cost, and the trades of all chains. */
export const historyJobs = (
  { database, fiatMaxAgeSecs }: Pick<CaptureDeps, 'database' | 'fiatMaxAgeSecs'>,
  chains: readonly CaptureChain[],
): Job[] => [
  {
    name: 'price-history',
    run: () => recordFiatPrices({ database, fiatMaxAgeSecs, pools: () => poolsOf(chains) }, nowSecs()),
    ...adaptive(5),
  },
  { name: 'trade-history', run: () => writeTradeMinutes(database), ...adaptive(5) },
];
