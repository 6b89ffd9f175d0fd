import { auditJobs } from './audit/audit-job.ts';
import { calibrationJobs } from './calibration/calibration-job.ts';
import { type CaptureDeps, openCaptureChain } from './capture-chain.ts';
import { fiatJobs } from './fiat/fiat-jobs.ts';
import { chainHistoryJobs, historyJobs } from './history/history-jobs.ts';
import type { Job } from './job.ts';
import { listingJobs } from './listing/listing-jobs.ts';
import { persistenceJobs } from './persistence/persistence-jobs.ts';
import { storageJobs } from './pool-storage/capture-storage.ts';
import { priceJobs } from './price-health/price-jobs.ts';

/** The jobs of each chain. Each folder wires its own. */
const OF_CHAIN = [priceJobs, chainHistoryJobs, persistenceJobs, storageJobs, calibrationJobs, auditJobs];
/** The jobs of all chains together. */
const OF_ALL_CHAINS = [fiatJobs, listingJobs, historyJobs];

/** Lists all scheduled work. Each chain has its own jobs, so that an unreachable chain delays no other. */
export function captureJobs(deps: CaptureDeps): readonly Job[] {
  const chains = deps.file.chains.map((chain) => openCaptureChain(chain, deps));
  return [
    ...chains.flatMap((chain) => OF_CHAIN.flatMap((jobsOf) => jobsOf(chain, deps))),
    ...OF_ALL_CHAINS.flatMap((jobsOf) => jobsOf(deps, chains)),
  ];
}
