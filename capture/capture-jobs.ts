import type pg from 'pg';
import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../chain/chain-rpc.ts';
import { MeteredRpc } from '../chain/read-budget/metered-rpc.ts';
import { ReadBudget } from '../chain/read-budget/read-budget.ts';
import { unknownErrorLog } from '../chain/unknown-errors.ts';
import type { ChainConfig, ChainsFile } from '../config/chains-schema.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OnAttention } from './attention/attention-report.ts';
import { keepList } from './attention/kept-list.ts';
import { type KnownPool, readPoolsWithWorth } from './attention/pools-with-worth.ts';
import { readWantedPools } from './attention/wanted-pools.ts';
import { createBlockFinder } from './blocks/block-finder.ts';
import { calibrateFactories, type OnCalibration } from './calibration/calibration-job.ts';
import { createClassification } from './classification/classify-pools.ts';
import { defiLlamaPrices } from './fiat/defillama.ts';
import { LLAMA_CHAINS } from './fiat/llama-chains.ts';
import { type PriceSource, staticPrices } from './fiat/price-sources.ts';
import { refreshFiatPrices } from './fiat/refresh-prices.ts';
import type { TokenKey } from './fiat/token-key.ts';
import { readTokensToPrice, worthyTokens } from './fiat/tokens-to-price.ts';
import type { Job } from './job.ts';
import { listingVersion } from './listing/listing-version.ts';
import { createListingRefresh, type RefreshDeps } from './listing/refresh-listing.ts';
import { createStorageCapture, hasStoredPools } from './pool-storage/capture-storage.ts';
import { createRegistry } from './pools/operator-registry.ts';
import { createPriceCapture } from './price-health/capture-prices.ts';
import { readGuardedPools } from './price-health/guarded-pools.ts';
import { createGuardProbe } from './price-health/probe-guards.ts';

export type CaptureDeps = {
  readonly file: ChainsFile;
  readonly database: pg.Pool;
  readonly fiatMaxAgeSecs: number;
  readonly statusMaxAgeSecs: number;
  /** Pools of less than `capture.repricedFromUsd` that a refresh of the listing computes at new prices. */
  readonly repricedPools?: number;
  readonly llamaUrl: string;
  readonly countCall?: CountChainCall;
  readonly onAttention?: OnAttention;
  readonly onCalibration?: OnCalibration;
  readonly logger: Logger;
};

/** Nothing rests longer than this: no shown value is older than 15 s plus the time it takes to compute it. */
const MAX_PAUSE_MS = 15_000;
const LISTING_PAUSE_MS = 2_000;
const CLASSIFICATION_PAUSE_MS = 5_000;
const PRICE_PAUSE_MS = 5_000;
const FIAT_PAUSE_MS = 5_000;
const STORAGE_PAUSE_MS = 5_000;
const CALIBRATION_PAUSE_MS = 10_000;
/** Longest wait for the whole answer of a node. */
const RPC_TIMEOUT_MS = 10_000;

/** All scheduled work. Jobs of its own for each chain, so that an unreachable chain delays no other. */
export function captureJobs(deps: CaptureDeps): readonly Job[] {
  const { file, database, logger, fiatMaxAgeSecs, statusMaxAgeSecs } = deps;
  const { restPerWork, listUsePerRead, repricedFromUsd } = file.capture;
  const every = pauses(restPerWork);
  const registry = createRegistry(file);
  const rpcs = new Map(file.chains.map((chain) => [chain.chainId, openRpc(chain, deps)]));
  const budgets = new Map(file.chains.map((chain) => [chain.chainId, new ReadBudget(chain.readBudget)]));
  const metered = (chain: ChainConfig) => new MeteredRpc(of(rpcs, chain), of(budgets, chain), 'worth');
  const sources = priceSources(deps);
  const lists = new Map(
    file.chains.map((chain) => [
      chain.chainId,
      keepList(() => readPoolsWithWorth(database, chain), listUsePerRead, now),
    ]),
  );
  const tokens = keepList(
    async () => {
      const worthy: Set<TokenKey> = new Set();
      for (const chain of file.chains) {
        for (const token of worthyTokens(chain, await of(lists, chain)())) worthy.add(token);
      }
      return readTokensToPrice(database, registry, worthy);
    },
    listUsePerRead,
    now,
  );
  return [
    ...file.chains.flatMap((chain) => poolJobs(chain, of(lists, chain), of(rpcs, chain), of(budgets, chain), deps)),
    ...file.chains.filter(hasStoredPools).map((chain) => ({
      name: `calibration-${chain.chainId}`,
      run: () => calibrateFactories(deps, metered(chain), chain),
      ...every(CALIBRATION_PAUSE_MS),
    })),
    {
      name: 'fiat-prices',
      run: () => refreshFiatPrices({ database, registry, tokens, sources, fiatMaxAgeSecs, statusMaxAgeSecs }),
      ...every(FIAT_PAUSE_MS),
    },
    { name: 'classification', run: createClassification(database, registry), ...every(CLASSIFICATION_PAUSE_MS) },
    {
      name: 'listing',
      run: createListingRefresh({
        database,
        registry,
        fiatMaxAgeSecs,
        repricedPools: deps.repricedPools,
        repricedFromUsd,
        version: listingVersion(file),
        findBlockAt: blockClocks(file, metered, logger),
      }),
      ...every(LISTING_PAUSE_MS),
    },
  ];
}

const now = () => performance.now();

/** The pools of a chain. */
type PoolList = () => Promise<readonly KnownPool[]>;

const pauses = (restPerWork: number) => (minPauseMs: number) => ({ minPauseMs, maxPauseMs: MAX_PAUSE_MS, restPerWork });

/**
 * Prices, guards that close pools, and storage. Pools of worth apart from the others, which delay them neither by their
 * number nor by failures of their nodes.
 */
function poolJobs(chain: ChainConfig, pools: PoolList, rpc: ChainRpc, budget: ReadBudget, deps: CaptureDeps): Job[] {
  const { database, onAttention, logger } = deps;
  const { restPerWork, listUsePerRead } = deps.file.capture;
  const every = pauses(restPerWork);
  const strangersRpc = openRpc(chain, deps);
  const wanted = keepList(() => readWantedPools(database, chain), listUsePerRead, now);
  const guarded = keepList(async () => readGuardedPools(database, chain, await pools()), listUsePerRead, now);
  const logUnknown = unknownErrorLog(logger.child({ chainId: chain.chainId }));
  const rpcs = { worth: rpc, wanted: strangersRpc, others: strangersRpc };
  const shared = { chain, budget, rpcs, wanted, now, closed: new Set<Address>(), logUnknown };
  const probe = createGuardProbe({ ...shared, pools: guarded });
  const capture = createPriceCapture({ ...shared, database, onAttention, pools });
  const storage = hasStoredPools(chain) ? createStorageCapture({ ...shared, database, pools }) : null;
  const guardPauseMs = chain.readBudget.guardPauseSecs * 1_000;
  const kinds = { '': ['worth'], '-others': ['wanted', 'others'] } as const;
  return Object.entries(kinds).flatMap(([suffix, own]) => [
    {
      name: `guards${suffix}-${chain.chainId}`,
      run: () => probe(own),
      minPauseMs: guardPauseMs,
      maxPauseMs: guardPauseMs,
      restPerWork,
    },
    { name: `price-health${suffix}-${chain.chainId}`, run: () => capture(own), ...every(PRICE_PAUSE_MS) },
    ...(storage
      ? [{ name: `pool-storage${suffix}-${chain.chainId}`, run: () => storage(own), ...every(STORAGE_PAUSE_MS) }]
      : []),
  ]);
}

function priceSources({ file: { chains, fiatPrices }, llamaUrl }: CaptureDeps): readonly PriceSource[] {
  const fixed = staticPrices(fiatPrices.prices);
  if (fiatPrices.source === 'static') return [fixed];
  const names = new Map(chains.map(({ chainId, name }) => [chainId, name.toLowerCase()]));
  const chainSlug = (chainId: number) => LLAMA_CHAINS.get(chainId) ?? names.get(chainId);
  const { unknownPerRound, unknownPauseSecs, cacheSecs, cachedTokens } = fiatPrices;
  const rules = { unknownPerRound, unknownPauseSecs, cacheMs: cacheSecs * 1_000, cachedTokens };
  return [fixed, defiLlamaPrices({ ...rules, baseUrl: llamaUrl, chainSlug })];
}

function blockClocks(
  { chains }: ChainsFile,
  rpcOf: (chain: ChainConfig) => ChainRpc,
  logger: Logger,
): RefreshDeps['findBlockAt'] {
  const clocks = new Map(chains.map((chain) => [chain.chainId, createBlockFinder(rpcOf(chain), chain, logger)]));
  return (timestamp, indexed) => {
    const clock = clocks.get(indexed.chainId);
    // A chain that was taken out of the configuration is still indexed until the next index.
    return clock ? clock(timestamp, indexed) : Promise.resolve(indexed.number);
  };
}

/** A node that is slow must leave time to ask the next one. */
function openRpc(chain: ChainConfig, { file: { quotes }, countCall }: CaptureDeps): ChainRpc {
  const timeoutMs = chain.rpcUrls.length > 1 ? Math.min(quotes.rpcTimeoutMs, RPC_TIMEOUT_MS) : RPC_TIMEOUT_MS;
  return openChainRpc(chain, timeoutMs, countCall);
}

function of<T>(byChain: ReadonlyMap<number, T>, { chainId }: ChainConfig): T {
  const found = byChain.get(chainId);
  if (found === undefined) throw new Error(`nothing of chain ${chainId}`);
  return found;
}
