import type pg from 'pg';
import { type ChainRpc, openChainRpc } from '../chain/chain-rpc.ts';
import { BudgetedRpc } from '../chain/read-schedule/budgeted-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import type { ChainConfig, ChainsFile } from '../config/chains-schema.ts';
import { partSource } from '../config/live-schema.ts';
import type { Environment } from '../config/read-secret.ts';
import { completeChain } from '../db/complete-chain.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import { chainBounds } from '../quoting/chain-bounds.ts';
import type { LiveBlocks } from '../quoting/live/live-blocks.ts';
import type { LiveObserver } from '../quoting/live/live-metrics.ts';
import { openLiveBlocks } from '../quoting/open-live-blocks.ts';
import { SeenParts } from '../quoting/parts/seen-parts.ts';
import { accountsToProtect } from '../quoting/pools/protected-accounts.ts';
import type { ReadSharing } from '../quoting/sharing/read-sharing.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Logger } from '../runtime/logger.ts';
import type { OnStop } from '../runtime/shutdown.ts';
import type { OnAudit } from './audit/audit-report.ts';
import { createBlockFinder, type FindBlockAt } from './blocks/block-finder.ts';
import type { OnCalibration } from './calibration/calibration-report.ts';
import { cacheList } from './read-schedule/cached-list.ts';
import { CAPTURE_CLASSES, type KnownPool, readPoolValues } from './read-schedule/pool-values.ts';
import type { PoolSchedule } from './read-schedule/read-due-pools.ts';
import type { OnRead } from './read-schedule/read-gauges.ts';
import { followSealedParts, type SealedParts } from './sealed-parts.ts';

export interface CaptureDeps {
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
  readonly onAudit?: OnAudit;
  /** Registers what ends the sources of live prices. */
  readonly onStop?: OnStop;
  readonly logger: Logger;
}

/** What the jobs of a chain share. */
export interface CaptureChain extends PoolSchedule {
  readonly chain: ChainConfig;
  /** Reads the chain with the contracts of the served index, those that the indexer found as well. */
  readonly ofIndex: () => Promise<ChainConfig>;
  /** The nodes of funded pools. Its requests wait for the read budget. */
  readonly budgeted: ChainRpc;
  /** Absent on a chain without a source of live prices. */
  readonly live: LiveBlocks | undefined;
  /** Parts that were shown, where nodes follow them. */
  readonly seen: SeenParts;
  readonly sealed: SealedParts | undefined;
  readonly findBlockAt: FindBlockAt;
  readonly database: pg.Pool;
  /** Names the chain in each line. */
  readonly logger: Logger;
}

/** Longest wait for the complete response of a node. */
const RPC_TIMEOUT_MS = 10_000;

export const now = () => performance.now();
/** Unix milliseconds. */
export const wallClock = () => Date.now();
/** Unix seconds. */
export const nowSecs = () => Math.floor(wallClock() / 1_000);

/** Opens the nodes and the sources of live prices of a chain. */
export function openCaptureChain(chain: ChainConfig, deps: CaptureDeps): CaptureChain {
  const { chainId, readBudget } = chain;
  const { file, database, env = {}, observeLive, countCall = () => undefined, sharing, onStop } = deps;
  const logger = deps.logger.child({ chainId });
  const rpcs = { funded: openRpc(chain, deps), remaining: openRpc(chain, deps) };
  const budget = new CallBudget(readBudget.callsPerMinute, CAPTURE_CLASSES, now);
  const budgeted = new BudgetedRpc(rpcs.funded, budget, 'funded');
  const pools = cacheList(() => readPoolValues(database, chain), now);
  const ofIndex = async () => completeChain(chain, await readFoundContracts(database));
  const bounds = chainBounds(chain, file.quotes);
  const context = { config: chain, bounds, rpc: budgeted, countCall, logger, now, wallClock };
  const sources = openLiveBlocks(context, {
    protectedAccounts: cacheList(async () => accountsToProtect(await ofIndex(), await pools()), now),
    env,
    observer: observeLive?.(chainId),
    sharing,
  });
  if (sources) onStop?.(`live prices of chain ${chainId}`, () => sources.close());
  const live = sources?.blocks;
  const seen = new SeenParts();
  if (partSource(chain.live)) sharing?.followFees(chain, (fees) => seen.noteFees(fees));
  const sealed = followSealedParts(chain, sharing, { logger, now });
  const findBlockAt = createBlockFinder(budgeted, chain, deps.logger);
  const reads = { chainId, budget, rpcs, pools, now };
  return { ...reads, chain, ofIndex, budgeted, live, seen, sealed, findBlockAt, database, logger };
}

/** Reads the pools of all chains. */
export const poolsOf = async (chains: readonly CaptureChain[]): Promise<readonly KnownPool[]> =>
  (await Promise.all(chains.map(({ pools }) => pools()))).flat();

/**
 * Opens the nodes of a chain, with circuit breakers of their own. With several, the timeout is shorter: a slow node
 * must leave time to call the next.
 */
export function openRpc(
  chain: ChainConfig,
  { file: { quotes }, countCall }: Pick<CaptureDeps, 'file' | 'countCall'>,
): ChainRpc {
  const timeoutMs = chain.rpcUrls.length > 1 ? Math.min(quotes.rpcTimeoutMs, RPC_TIMEOUT_MS) : RPC_TIMEOUT_MS;
  return openChainRpc(chain, timeoutMs, countCall);
}
