import { openChainRpc } from '../chain/chain-rpc.ts';
import { boundedCallsOnce } from '../chain/isolated-calls.ts';
import type { BlockHeader, BlockRef } from '../chain/read-context.ts';
import type { ChainConfig } from '../config/chains-schema.ts';
import type { Environment } from '../config/read-secret.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { OutageLog } from '../runtime/outage-log.ts';
import { type ChainContext, chainBounds, type QuoteOptions } from './chain-bounds.ts';
import { ChainDepthEstimates } from './depth-estimates.ts';
import { SwapGas, type SwapGasDeps } from './guards/swap-gas.ts';
import type { LiveObserver } from './live/live-metrics.ts';
import { type HeadsOptions, openHeads } from './open-heads.ts';
import { type BasisQuotes, openQuotes, type QuotesDeps } from './open-quotes.ts';
import { atNewestPart } from './parts/newest-part.ts';
import type { PoolDirectory, ServedPool } from './pools/pool-directory.ts';
import { loggingAccounts, protectedAccounts } from './pools/protected-accounts.ts';
import type { Basis } from './quote-basis.ts';
import type { ReadSharing } from './sharing/read-sharing.ts';
import type { SnapshotObserver } from './snapshot-metrics.ts';

export interface ChainDeps {
  readonly quotes: QuoteOptions;
  readonly directory: PoolDirectory;
  /** Whether a pool is funded, and so read before remaining pools. Default: all are. */
  readonly isFunded?: (pool: ServedPool) => boolean;
  readonly countCall: CountChainCall;
  /** Gives the observer of what happens to a chain's snapshots. */
  readonly observe?: (chainId: number) => Partial<SnapshotObserver>;
  /** Holds the keys of sources of live prices. Default: there are none. */
  readonly env?: Environment;
  /** Gives the observer of a chain's pending state. */
  readonly observeLive?: (chainId: number) => LiveObserver;
  /** The processes that share what they read. Default: none. */
  readonly sharing?: ReadSharing | undefined;
  readonly logger: Logger;
  /** What reaches nodes, sources and contracts. Default: the network. */
  readonly outside?: Partial<Outside>;
  /** Default: that of the process. */
  readonly now?: Clock;
}

/** What reaches nodes, sources and contracts of a chain: simulations have their own. */
export type Outside = Required<Pick<HeadsOptions, 'openSocket' | 'openSource'> & Pick<QuotesDeps, 'createReader'>> & {
  readonly openRpc: typeof openChainRpc;
};

/** A chain of the configuration with what serves its quotes: those at the committed head, and live ones. */
export interface Chain extends ChainConfig, BasisQuotes {
  /** Quotes in the block that is being built; undefined where no source of live prices is configured. */
  readonly liveQuotes: BasisQuotes | undefined;
  /** What routes know of pools before they are read. */
  readonly estimates: ChainDepthEstimates;
  /** What swaps of pools take. */
  readonly swapGas: Pick<SwapGas, 'of' | 'settled' | 'simulate'>;
  /** Whether calls fail because no node works; takes what fails by its nodes besides. */
  readonly nodes: Pick<OutageLog, 'isFailing' | 'failed'>;
  /** What the operator should know of live prices; undefined when there is nothing. */
  liveWarning(): string | undefined;
  /** Stops reading. Resolves when the run in progress is over. */
  stop(): Promise<void>;
}

export const processClock: Clock = () => performance.now();
const wallClock = () => Date.now();

/** Opens a chain: the sockets that push its heads, and the reader of pools, which starts once a client requests any. */
export function openChain(config: ChainConfig, deps: ChainDeps): Chain {
  const { chainId } = config;
  const {
    quotes,
    directory,
    isFunded = () => true,
    observe,
    env,
    observeLive,
    sharing,
    countCall,
    now = processClock,
  } = deps;
  const { openRpc = openChainRpc, openSocket, openSource, createReader } = deps.outside ?? {};
  const logger = deps.logger.child({ chainId });
  const bounds = chainBounds(config, quotes);
  const nodes = new OutageLog(logger, {
    begin: 'no node of the chain answers: its quotes and routes fail',
    end: 'nodes of the chain answer again',
    quietMs: bounds.nodesQuietMs,
  });
  const rpc = openRpc(config, bounds.rpcTimeoutMs, countCall, nodes);
  const chain: ChainContext = { config, bounds, rpc, countCall, logger, now, wallClock };
  const heads = openHeads(chain, {
    protectedAccounts: protectedAccounts(config, directory),
    loggingAccounts: () => loggingAccounts(config, directory),
    observer: observeLive?.(chainId),
    isFunded,
    env,
    listen: sharing && ((listener) => sharing.listen(chainId, listener)),
    openSocket,
    openSource,
  });
  const estimates = new ChainDepthEstimates(now);
  const observer = withCurves(observe?.(chainId), estimates);
  const { live: sources, parts } = heads;
  const sealed = parts?.sealed;
  const common = { ...chain, directory, isFunded, estimates, observer, sharing, sealed, createReader };
  sharing?.shareHeads(config, heads.committed);
  const takeHead = (block: BlockHeader) => heads.committed.pushShared({ block, endpoint: null });
  const committed = openQuotes(common, heads.committed, takeHead);
  if (sharing && sources) sharing.shareFeed(config, sources.feed);
  else sources?.feed.read();
  const pending = parts ?? sources;
  const live =
    pending &&
    openQuotes(common, pending.heads, () => undefined, { ...pending, committed, parts, feed: sources?.feed });
  if (parts) sharing?.shareParts(config, parts);
  const stop = async () => {
    heads.close();
    await Promise.all([committed.warmer.close(), live?.warmer.close()]);
  };
  const targetAt = ({ pending: state }: BlockRef) => ({ rpc: (state?.part && parts?.rpc) ?? rpc, chainId });
  const send: SwapGasDeps['send'] = (at, calls) =>
    atNewestPart(at.block, { now }, (block) => boundedCallsOnce(targetAt(block), { ...at, block }, calls));
  const reserve = () => committed.schedule.budget.reserve('remaining');
  const swapGas = new SwapGas({ send, reserve, logger, now });
  const liveWarning = () => pending?.warning();
  return { ...config, ...committed, liveQuotes: live, estimates, swapGas, nodes, liveWarning, stop };
}

/** Makes an observer that also passes on to routes how curves became known. */
function withCurves(
  observer: Partial<SnapshotObserver> = {},
  estimates: ChainDepthEstimates,
): Partial<SnapshotObserver> {
  return {
    ...observer,
    curve: (report) => {
      observer.curve?.(report);
      estimates.report(report);
    },
  };
}

/** What serves quotes of a basis on a chain. Without a source of live prices all are committed. */
export const quotesOf = <Q>(chain: Q & { readonly liveQuotes?: Q | undefined }, basis: Basis): Q =>
  (basis === 'live' ? chain.liveQuotes : undefined) ?? chain;
