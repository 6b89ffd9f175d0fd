import { type CaptureChain, type CaptureDeps, now, nowSecs, wallClock } from '../capture-chain.ts';
import { adaptive, fixed, type Job, jobsOfChain } from '../job.ts';
import { createLiveQuotes } from './live-quotes.ts';
import { PersistenceRecorder } from './record-persistence.ts';
import { write24h, writeDays } from './write-figures.ts';

/** Whether a chain's quotes hold. Calls are those that price reads do not need soon. */
export function persistenceJobs(
  { chain, chainId, budget, rpcs, pools, live, seen, sealed, database, logger }: CaptureChain,
  { file: { history: kept }, fiatMaxAgeSecs, countCall }: CaptureDeps,
): Job[] {
  if (kept.persistencePools === 0) return [];
  const read = { chain, rpc: rpcs.funded, now, wallClock, logger };
  const recorder = new PersistenceRecorder({
    database,
    ...read,
    pools,
    kept,
    fiatMaxAgeSecs,
    budget,
    readLive: createLiveQuotes({
      ...read,
      reserve: () => budget.reserveSpare('funded'),
      live,
      seen,
      divergence: sealed?.divergence,
      countCall,
    }),
    draw: Math.random,
  });
  return jobsOfChain(chainId, {
    persistence: { pace: adaptive(1), run: () => recorder.run() },
    'persistence-24h': { pace: fixed(300), run: () => write24h(database, chainId, nowSecs()) },
    'persistence-days': { pace: fixed(3_600), run: () => writeDays(database, chainId, kept, nowSecs()) },
  });
}
