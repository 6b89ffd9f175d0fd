import type pg from 'pg';
import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../chain/chain-rpc.ts';
import { BudgetedRpc } from '../chain/read-schedule/budgeted-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import { unknownErrorLog } from '../chain/unknown-errors.ts';
import type { ChainConfig, ChainsFile } from '../config/chains-schema.ts';
import type { Environment } from '../config/read-secret.ts';
import { completeChain } from '../db/complete-chain.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import { writeTradeMinutes } from '../db/history/trade-minutes.ts';
import type { LiveObserver } from '../quoting/live/live-metrics.ts';
import type { ReadSharing } from '../quoting/sharing/read-sharing.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OnStop } from '../runtime/shutdown.ts';
import { createBlockFinder } from './blocks/block-finder.ts';
import { calibrateFactories, type OnCalibration } from './calibration/calibration-job.ts';
import { defiLlamaPrices } from './fiat/defillama.ts';
import { type PriceSource, staticPrices } from './fiat/price-sources.ts';
import { refreshFiatPrices } from './fiat/refresh-prices.ts';
import { readTokensToPrice } from './fiat/tokens-to-price.ts';
import { createDepthRecorder } from './history/record-depth.ts';
import { recordFiatPrices } from './history/record-fiat-prices.ts';
import { recordFills } from './history/record-fills.ts';
import { recordLandings } from './history/record-landings.ts';
import { recordQuotes } from './history/record-quotes.ts';
import { writeTrends } from './history/write-trends.ts';
import type { Job } from './jobs.ts';
import { classify } from './listing/classify.ts';
import { listingVersion } from './listing/listing-version.ts';
import { type RefreshDeps, refreshListing } from './listing/refresh-listing.ts';
import { openLiveBlocks } from './live/live-blocks.ts';
import { readProtectedAccounts } from './live/protected-accounts.ts';
import { createStorageCapture, hasStoredPools } from './pool-storage/capture-storage.ts';
import { createRegistry } from './pools/operator-registry.ts';
import { createPriceCapture } from './price-health/capture-prices.ts';
import { readGuardedPools } from './price-health/guarded-pools.ts';
import type { ClosedSides } from './price-health/pool-price.ts';
import { createGuardProbe } from './price-health/probe-guards.ts';
import { createTransferProbe } from './price-health/probe-transfers.ts';
import { cacheList } from './read-schedule/cached-list.ts';
import { CAPTURE_CLASSES, readPoolValues } from './read-schedule/pool-values.ts';
import type { OnRead } from './read-schedule/read-gauges.ts';

export type CaptureDeps = {
  readonly file: ChainsFile;
  readonly database: pg.Pool;
  readonly fiatMaxAgeSecs: number;
  readonly statusMaxAgeSecs: number;
  readonly llamaUrl: string;
  /** Holds the keys of sources of live prices. Default: there are none. */
  readonly env?: Environment;
  readonly countCall?: CountChainCall;
  /** Gives the observer of a chain's pending state. */
  readonly observeLive?: (chainId: number) => LiveObserver;
  /** The processes that share sources of live prices. Default: none. */
  readonly sharing?: ReadSharing | undefined;
  readonly onRead?: OnRead;
  readonly onCalibration?: OnCalibration;
  /** Registers what ends the sources of live prices. */
  readonly onStop?: OnStop;
  readonly logger: Logger;
};

/** Longest pause of a job: no shown value is older than 15 s plus the time it takes to compute it. */
const MAX_PAUSE_MS = 15_000;
const LISTING_PAUSE_MS = 2_000;
const PRICE_PAUSE_MS = 5_000;
const FIAT_PAUSE_MS = 5_000;
const STORAGE_PAUSE_MS = 5_000;
const HISTORY_PAUSE_MS = 5_000;
const TRENDS_PAUSE_MS = 60_000;
const CALIBRATION_PAUSE_MS = 10_000;
/** Time between two probes of a pool's guards, and of its tokens. */
const PROBE_PAUSE_MS = 30_000;
/** Longest wait for the complete response of a node. */
const RPC_TIMEOUT_MS = 10_000;

/** Lists all scheduled work. Each chain has its own jobs, so that an unreachable chain delays no other. */
export function captureJobs(deps: CaptureDeps): readonly Job[] {
  const { file, database, fiatMaxAgeSecs, statusMaxAgeSecs } = deps;
  const registry = createRegistry(file);
  const chains = file.chains.map((chain) => openChain(chain, deps));
  const tokens = cacheList(async () => {
    const pools = await Promise.all(chains.map((chain) => chain.pools()));
    return readTokensToPrice(database, registry, pools.flat());
  }, now);
  const sources = priceSources(deps);
  const blockFinders = new Map(chains.map(({ chain, findBlockAt }) => [chain.chainId, findBlockAt]));
  const listing: Omit<RefreshDeps, 'registry' | 'version'> = {
    database,
    fiatMaxAgeSecs,
    fiatSource: file.fiatPrices.source,
    classify,
    // The served index still has a chain that was removed from the configuration, until a new index replaces it.
    findBlockAt: async (timestamp, indexed) =>
      (await blockFinders.get(indexed.chainId)?.(timestamp, indexed)) ?? indexed.number,
  };
  /** The listing goes by the contracts of the served index, those that the indexer found as well. */
  const ofIndex = async () => {
    const found = await readFoundContracts(database);
    const completed = { ...file, chains: file.chains.map((chain) => completeChain(chain, found)) };
    return { registry: createRegistry(completed), version: listingVersion(completed) };
  };
  const history = {
    database,
    fiatMaxAgeSecs,
    pools: async () => (await Promise.all(chains.map((chain) => chain.pools()))).flat(),
  };
  return [
    ...chains.flatMap((chain) => chainJobs(chain, deps)),
    {
      name: 'fiat-prices',
      run: () => refreshFiatPrices({ database, registry, tokens, sources, fiatMaxAgeSecs, statusMaxAgeSecs }),
      ...every(FIAT_PAUSE_MS),
    },
    {
      name: 'listing',
      run: async () => refreshListing({ ...listing, ...(await ofIndex()) }),
      ...every(LISTING_PAUSE_MS),
      afterOthers: true,
    },
    { name: 'price-history', run: () => recordFiatPrices(history), ...every(HISTORY_PAUSE_MS) },
    { name: 'trade-history', run: () => writeTradeMinutes(database), ...every(HISTORY_PAUSE_MS) },
  ];
}

const now = () => performance.now();

const probing = { minPauseMs: PROBE_PAUSE_MS, maxPauseMs: PROBE_PAUSE_MS };

const every = (minPauseMs: number) => ({ minPauseMs, maxPauseMs: MAX_PAUSE_MS });

/** Opens what the jobs of a chain share. */
function openChain(chain: ChainConfig, deps: CaptureDeps) {
  const rpc = openRpc(chain, deps);
  const budget = new CallBudget(chain.readBudget.callsPerMinute, CAPTURE_CLASSES);
  const budgeted = new BudgetedRpc(rpc, budget, 'funded');
  const pools = cacheList(() => readPoolValues(deps.database, chain), now);
  const live = openLiveBlocks({
    chain,
    quotes: deps.file.quotes,
    rpc: budgeted,
    protectedAccounts: cacheList(async () => readProtectedAccounts(deps.database, chain, await pools()), now),
    env: deps.env ?? {},
    observer: deps.observeLive?.(chain.chainId),
    countCall: deps.countCall,
    sharing: deps.sharing,
    logger: deps.logger.child({ chainId: chain.chainId }),
  });
  if (live) deps.onStop?.(`live prices of chain ${chain.chainId}`, () => live.close());
  return { chain, rpc, budget, budgeted, live, findBlockAt: createBlockFinder(budgeted, chain, deps.logger), pools };
}

/**
 * Makes the jobs of a chain: probes, prices, history, storage and calibration. Funded and remaining pools have separate
 * jobs and nodes, so that neither the number of remaining pools nor failures of their calls delay funded pools.
 */
function chainJobs(
  { chain, rpc, budget, budgeted, live, pools }: ReturnType<typeof openChain>,
  deps: CaptureDeps,
): Job[] {
  const { database, onRead, logger } = deps;
  const { chainId } = chain;
  const ofIndex = async () => completeChain(chain, await readFoundContracts(database));
  const guarded = cacheList(async () => readGuardedPools(database, await ofIndex(), await pools()), now);
  const logUnknown = unknownErrorLog(logger.child({ chainId }));
  const rpcs = { funded: rpc, remaining: openRpc(chain, deps) };
  const shared = { chainId, budget, rpcs, live, now, logUnknown };
  const [byGuards, byTokens] = [new Map<Address, ClosedSides>(), new Map<Address, ClosedSides>()];
  const probeGuards = createGuardProbe({ ...shared, pools: guarded, closed: byGuards });
  const probeTransfers = createTransferProbe({ ...shared, pools, closed: byTokens });
  const capture = createPriceCapture({ ...shared, database, onRead, pools, closed: [byGuards, byTokens] });
  const jobs = CAPTURE_CLASSES.flatMap((kind): Job[] => {
    const of = `${kind === 'funded' ? '' : '-others'}-${chainId}`;
    return [
      { name: `guards${of}`, run: () => probeGuards(kind), ...probing },
      { name: `transfers${of}`, run: () => probeTransfers(kind), ...probing },
      { name: `price-health${of}`, run: () => capture(kind), ...every(PRICE_PAUSE_MS) },
    ];
  });
  const hasSpareCalls = () => budget.saved('funded') > budget.burst('funded');
  const reserve = () => hasSpareCalls() && budget.reserve('funded');
  const recordDepth = createDepthRecorder({ database, chain, rpc, reserve, logger: logger.child({ chainId }) });
  const quotes = { database, chainId, pools, kept: deps.file.history, recordDepth };
  jobs.push({ name: `quote-history-${chainId}`, run: () => recordQuotes(quotes), ...every(HISTORY_PAUSE_MS) });
  jobs.push({ name: `trends-${chainId}`, run: () => writeTrends(database, chainId), ...every(TRENDS_PAUSE_MS) });
  const fills = { database, chainId, rpc: budgeted, pools, hasSpareCalls };
  jobs.push({ name: `fills-${chainId}`, run: () => recordFills(fills), ...every(HISTORY_PAUSE_MS) });
  jobs.push({ name: `landings-${chainId}`, run: () => recordLandings(fills), ...every(HISTORY_PAUSE_MS) });
  if (!hasStoredPools(chain)) return jobs;
  const storage = createStorageCapture({ ...shared, database, pools });
  for (const kind of CAPTURE_CLASSES) {
    const name = `pool-storage${kind === 'funded' ? '' : '-others'}-${chainId}`;
    jobs.push({ name, run: () => storage(kind), ...every(STORAGE_PAUSE_MS) });
  }
  const calibrate = async () => calibrateFactories(deps, budgeted, await ofIndex());
  return [...jobs, { name: `calibration-${chainId}`, run: calibrate, ...every(CALIBRATION_PAUSE_MS) }];
}

function priceSources({ file: { chains, fiatPrices }, llamaUrl }: CaptureDeps): readonly PriceSource[] {
  const fixed = staticPrices(fiatPrices.prices);
  return fiatPrices.source === 'static' ? [fixed] : [fixed, defiLlamaPrices({ baseUrl: llamaUrl, chains })];
}

/** Opens the nodes of a chain. With several, the timeout is shorter: a slow node must leave time to call the next. */
function openRpc(chain: ChainConfig, { file: { quotes }, countCall }: CaptureDeps): ChainRpc {
  const timeoutMs = chain.rpcUrls.length > 1 ? Math.min(quotes.rpcTimeoutMs, RPC_TIMEOUT_MS) : RPC_TIMEOUT_MS;
  return openChainRpc(chain, timeoutMs, countCall);
}
