import type pg from 'pg';
import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../chain/chain-rpc.ts';
import { BudgetedRpc } from '../chain/read-schedule/budgeted-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import { unknownErrorLog } from '../chain/unknown-errors.ts';
import type { ChainConfig, ChainsFile } from '../config/chains-schema.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import { createBlockFinder } from './blocks/block-finder.ts';
import { calibrateFactories, type OnCalibration } from './calibration/calibration-job.ts';
import { classifyPools } from './classification/classify-pools.ts';
import { defiLlamaPrices } from './fiat/defillama.ts';
import { LLAMA_CHAINS } from './fiat/llama-chains.ts';
import { type PriceSource, staticPrices } from './fiat/price-sources.ts';
import { refreshFiatPrices } from './fiat/refresh-prices.ts';
import type { TokenKey } from './fiat/token-key.ts';
import { fundedTokens, readTokensToPrice } from './fiat/tokens-to-price.ts';
import type { Job } from './job.ts';
import { listingVersion } from './listing/listing-version.ts';
import { type RefreshDeps, refreshListing } from './listing/refresh-listing.ts';
import { createStorageCapture, hasStoredPools } from './pool-storage/capture-storage.ts';
import { createRegistry } from './pools/operator-registry.ts';
import { createPriceCapture } from './price-health/capture-prices.ts';
import { readGuardedPools } from './price-health/guarded-pools.ts';
import { createGuardProbe } from './price-health/probe-guards.ts';
import { cacheList } from './read-schedule/cached-list.ts';
import { CAPTURE_CLASSES, type KnownPool, readPoolValues } from './read-schedule/pool-values.ts';
import type { OnRead } from './read-schedule/read-gauges.ts';

export type CaptureDeps = {
  readonly file: ChainsFile;
  readonly database: pg.Pool;
  readonly fiatMaxAgeSecs: number;
  readonly statusMaxAgeSecs: number;
  readonly llamaUrl: string;
  readonly countCall?: CountChainCall;
  readonly onRead?: OnRead;
  readonly onCalibration?: OnCalibration;
  readonly logger: Logger;
};

/** Nothing rests longer than this: no shown value is older than 15 s plus the time it takes to compute it. */
const MAX_PAUSE_MS = 15_000;
const LISTING_PAUSE_MS = 2_000;
const PRICE_PAUSE_MS = 5_000;
const FIAT_PAUSE_MS = 5_000;
const STORAGE_PAUSE_MS = 5_000;
const CALIBRATION_PAUSE_MS = 10_000;
/** Time between two probes of a pool's guards. */
const GUARD_PAUSE_MS = 30_000;
/** Longest wait for the whole answer of a node. */
const RPC_TIMEOUT_MS = 10_000;

/** All scheduled work. Jobs of its own for each chain, so that an unreachable chain delays no other. */
export function captureJobs(deps: CaptureDeps): readonly Job[] {
  const { file, database, logger, fiatMaxAgeSecs, statusMaxAgeSecs } = deps;
  const registry = createRegistry(file);
  const rpcs = new Map(file.chains.map((chain) => [chain.chainId, openRpc(chain, deps)]));
  const budgets = new Map(
    file.chains.map(({ chainId, readBudget }) => [chainId, new CallBudget(readBudget.callsPerMinute, CAPTURE_CLASSES)]),
  );
  const budgeted = (chain: ChainConfig) => new BudgetedRpc(of(rpcs, chain), of(budgets, chain), 'funded');
  const sources = priceSources(deps);
  const lists = new Map(
    file.chains.map((chain) => [chain.chainId, cacheList(() => readPoolValues(database, chain), now)]),
  );
  const tokens = cacheList(async () => {
    const funded: Set<TokenKey> = new Set();
    for (const chain of file.chains) {
      for (const token of fundedTokens(chain, await of(lists, chain)())) funded.add(token);
    }
    return readTokensToPrice(database, registry, funded);
  }, now);
  const listing: RefreshDeps = {
    database,
    registry,
    fiatMaxAgeSecs,
    version: listingVersion(file),
    classify: (pools) => classifyPools(database, registry, pools),
    findBlockAt: blockClocks(file, budgeted, logger),
  };
  return [
    ...file.chains.flatMap((chain) => poolJobs(chain, of(lists, chain), of(rpcs, chain), of(budgets, chain), deps)),
    ...file.chains.filter(hasStoredPools).map((chain) => ({
      name: `calibration-${chain.chainId}`,
      run: () => calibrateFactories(deps, budgeted(chain), chain),
      ...every(CALIBRATION_PAUSE_MS),
    })),
    {
      name: 'fiat-prices',
      run: () => refreshFiatPrices({ database, registry, tokens, sources, fiatMaxAgeSecs, statusMaxAgeSecs }),
      ...every(FIAT_PAUSE_MS),
    },
    {
      name: 'listing',
      run: () => refreshListing(listing),
      ...every(LISTING_PAUSE_MS),
    },
  ];
}

const now = () => performance.now();

/** The pools of a chain. */
type PoolList = () => Promise<readonly KnownPool[]>;

const every = (minPauseMs: number) => ({ minPauseMs, maxPauseMs: MAX_PAUSE_MS });

/**
 * Prices, guards that close pools, and storage. Funded pools apart from the others, which delay them neither by their number
 * nor by failures of their nodes.
 */
function poolJobs(chain: ChainConfig, pools: PoolList, rpc: ChainRpc, budget: CallBudget, deps: CaptureDeps): Job[] {
  const { database, onRead, logger } = deps;
  const { chainId } = chain;
  const guarded = cacheList(async () => readGuardedPools(database, chain, await pools()), now);
  const logUnknown = unknownErrorLog(logger.child({ chainId }));
  const rpcs = { funded: rpc, remaining: openRpc(chain, deps) };
  const shared = { chainId, budget, rpcs, now, closed: new Set<Address>(), logUnknown };
  const probe = createGuardProbe({ ...shared, pools: guarded });
  const capture = createPriceCapture({ ...shared, database, onRead, pools });
  const storage = hasStoredPools(chain) ? createStorageCapture({ ...shared, database, pools }) : null;
  return CAPTURE_CLASSES.flatMap((kind) => {
    const name = (what: string) => `${what}${kind === 'funded' ? '' : '-others'}-${chainId}`;
    return [
      { name: name('guards'), run: () => probe(kind), minPauseMs: GUARD_PAUSE_MS, maxPauseMs: GUARD_PAUSE_MS },
      { name: name('price-health'), run: () => capture(kind), ...every(PRICE_PAUSE_MS) },
      ...(storage ? [{ name: name('pool-storage'), run: () => storage(kind), ...every(STORAGE_PAUSE_MS) }] : []),
    ];
  });
}

function priceSources({ file: { chains, fiatPrices }, llamaUrl }: CaptureDeps): readonly PriceSource[] {
  const fixed = staticPrices(fiatPrices.prices);
  if (fiatPrices.source === 'static') return [fixed];
  const names = new Map(chains.map(({ chainId, name }) => [chainId, name.toLowerCase()]));
  const chainSlug = (chainId: number) => LLAMA_CHAINS.get(chainId) ?? names.get(chainId);
  return [fixed, defiLlamaPrices({ baseUrl: llamaUrl, chainSlug })];
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
