import type { Address } from 'viem';
import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { type CaptureChain, now } from '../capture-chain.ts';
import { adaptive, fixed, type Job, jobsOfClasses } from '../job.ts';
import { cacheList } from '../read-schedule/cached-list.ts';
import { createPriceCapture } from './capture-prices.ts';
import { readGuardedPools } from './guarded-pools.ts';
import type { ClosedSides } from './pool-price.ts';
import { createGuardProbe } from './probe-guards.ts';
import { createTransferProbe } from './probe-transfers.ts';

/** The reads of a chain's prices, and the probes of guards and tokens whose closed sides they apply. */
export function priceJobs(chain: CaptureChain): Job[] {
  const { chainId, database, pools, ofIndex, deps, logger } = chain;
  const guarded = cacheList(async () => readGuardedPools(database, await ofIndex(), await pools()), now);
  const [byGuards, byTokens] = [new Map<Address, ClosedSides>(), new Map<Address, ClosedSides>()];
  const shared = { ...chain, logUnknown: unknownErrorLog(logger) };
  return jobsOfClasses(chainId, {
    guards: { pace: fixed(30), run: createGuardProbe({ ...shared, pools: guarded, closed: byGuards }) },
    transfers: { pace: fixed(30), run: createTransferProbe({ ...shared, closed: byTokens }) },
    'price-health': {
      pace: adaptive(5),
      run: createPriceCapture({ ...shared, onRead: deps.onRead, closed: [byGuards, byTokens] }),
    },
  });
}
