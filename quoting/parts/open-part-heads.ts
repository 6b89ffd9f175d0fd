import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { type ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import { readPartAnd } from '../../chain/read-part.ts';
import type { LiveConfig, PartSourceConfig } from '../../config/live-schema.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { ChainContext } from '../chain-bounds.ts';
import type { Heads } from '../heads/heads.ts';
import { LiveHeads, type LiveHeadsDeps } from '../live/live-heads.ts';
import { ShownAnswers } from '../reads/shown-answers.ts';
import { PartFeed } from './part-feed.ts';
import { openPartSocket } from './part-socket.ts';
import { PassedReads } from './passed-reads.ts';
import { SealedChecks, type SealedChecksDeps } from './sealed-checks.ts';

export interface PartHeadsOptions extends Pick<LiveHeadsDeps, 'observer'> {
  /** Gives the contracts whose logs may tell of other quotes. Default: none. */
  readonly loggingAccounts?: () => Promise<readonly Address[]>;
  /** Whether a pool is funded: others do not decide whether parts are used. Default: all are. */
  readonly isFunded?: SealedChecksDeps['isFunded'] | undefined;
}

export interface OpenPartHeads {
  readonly heads: LiveHeads;
  readonly feed: PartFeed;
  /** Compares parts with sealed blocks. */
  readonly sealed: SealedChecks;
  readonly passed: PassedReads;
  /** What pools answer, as the calls of the feed show with parts. */
  readonly shownAnswers: ShownAnswers;
  /** The nodes that follow parts. */
  readonly rpc: ChainRpc;
  /** What the operator should know; undefined when there is nothing. */
  warning(): string | undefined;
  close(): void;
}

/** Longest wait for a call that shows the part: another one comes after 200 ms. */
const READ_MS = 500;
/** A part holds whatever its accounts are: it is the state of the chain itself. */
const NO_PROTECTED_ACCOUNTS: ReadonlySet<never> = new Set();

/** Makes the heads that show the newest part of a chain's block being built. */
export function openPartHeads(
  { config, bounds, countCall, logger, now }: ChainContext,
  source: PartSourceConfig,
  committed: Heads,
  { observer, loggingAccounts = async () => [], isFunded = () => true }: PartHeadsOptions,
): OpenPartHeads {
  const { chainId, blockTimeMs, multicall3 } = config;
  const { rpcUrls, wsUrls, maxAgeMs } = source;
  const sealed = new SealedChecks({ isFunded, observer, logger, now });
  const isLast = (node: string) => sealed.isDivergent(node);
  const rpc = openChainRpc({ chainId, rpcUrls, isLast }, bounds.rpcTimeoutMs, countCall);
  const shownAnswers = new ShownAnswers(now);
  const read = () =>
    shownAnswers.read(
      (calls) => withTimeLimit(READ_MS, (signal) => readPartAnd({ rpc, chainId, multicall3 }, calls, signal)),
      rpc.mayHave('stateOverrides'),
    );
  const feed = new PartFeed({ id: randomUUID(), multicall3, maxAgeMs, committed, sealed, read, observer, now });
  sealed.onFees((fees) => feed.noteFees(fees));
  const passed = new PassedReads(now);
  const live: LiveConfig = { sources: [source] };
  const protectedAccounts = () => NO_PROTECTED_ACCOUNTS;
  const heads = new LiveHeads(
    { chainId, blockTimeMs, live },
    { committed, feed, protectedAccounts, observer, logger, now },
  );
  const closes = wsUrls.map((url) =>
    openPartSocket({
      url,
      onPart: (part) => feed.push(part, url),
      onLog: () => feed.log(),
      isWanted: () => feed.isWanted,
      loggingAccounts,
      logger,
    }),
  );
  return {
    heads,
    feed,
    sealed,
    passed,
    shownAnswers,
    rpc,
    warning: () => feed.warning() ?? passed.warning(),
    close() {
      for (const close of closes) close();
      feed.close();
    },
  };
}
