import type { Address } from 'viem';
import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { partSource } from '../../config/live-schema.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import { type CaptureChain, type CaptureDeps, now } from '../capture-chain.ts';
import { adaptive, fixed, type Job, jobsOfClasses } from '../job.ts';
import { cacheList } from '../read-schedule/cached-list.ts';
import type { CaptureClass } from '../read-schedule/pool-values.ts';
import { createPriceCapture } from './capture-prices.ts';
import { noteStored, type SideProbe } from './closed-sides.ts';
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
  const [byGuards, byTransfers] = [new Map<Address, ClosedSides>(), new Map<Address, ClosedSides>()];
  const closed = [byGuards, byTransfers];
  const guards = createGuardProbe({ ...shared, pools: guarded }, byGuards);
  const transfers = createTransferProbe(chain, byTransfers);
  const prices = createPriceCapture({ ...shared, live, onRead, closed });
  // A restart opens no side: a probe comes to each pool in its turn.
  const noteOnce = cacheResult(() => noteStored(database, chainId, closed), Number.POSITIVE_INFINITY);
  const afterNotes = (run: SideProbe['run']) => (kind: CaptureClass) => noteOnce().then(() => run(kind));
  return jobsOfClasses(chainId, {
    guards: { pace: fixed(30), run: afterNotes(guards.run) },
    transfers: { pace: fixed(30), run: afterNotes(transfers.run) },
    'price-health': { pace: adaptive(5), run: afterNotes(prices) },
  });
}
