import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { partSource } from '../../config/live-schema.ts';
import { type CaptureChain, type CaptureDeps, now } from '../capture-chain.ts';
import { adaptive, fixed, type Job, jobsOfClasses } from '../job.ts';
import { cacheList } from '../read-schedule/cached-list.ts';
import { createPriceCapture } from './capture-prices.ts';
import { readGuardedPools } from './guarded-pools.ts';
import { PartBlocks } from './part-blocks.ts';
import { createGuardProbe } from './probe-guards.ts';
import { createTransferProbe } from './probe-transfers.ts';

/** The reads of a chain's prices, and the probes of guards and tokens whose closed sides they apply. */
export function priceJobs(chain: CaptureChain, { onRead, countCall }: CaptureDeps): Job[] {
  const { chainId, database, pools, ofIndex, logger } = chain;
  const source = partSource(chain.chain.live);
  const divergence = chain.sealed?.divergence;
  const live = source
    ? new PartBlocks({ ...chain, source, rpc: chain.budgeted, divergence, countCall, now })
    : chain.live;
  const guarded = cacheList(async () => readGuardedPools(database, await ofIndex(), await pools()), now);
  const shared = { ...chain, logUnknown: unknownErrorLog(logger) };
  const guards = createGuardProbe({ ...shared, pools: guarded });
  const transfers = createTransferProbe(chain);
  const prices = createPriceCapture({ ...shared, live, onRead, closed: [guards.closed, transfers.closed] });
  return jobsOfClasses(chainId, {
    guards: { pace: fixed(30), run: guards.run },
    transfers: { pace: fixed(30), run: transfers.run },
    'price-health': { pace: adaptive(5), run: prices },
  });
}
