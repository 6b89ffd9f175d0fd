import { setTimeout as sleep } from 'node:timers/promises';
import { openRetryingRpc } from '../../chain/discovery/retrying-rpc.ts';
import { readPart } from '../../chain/read-part.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { type PartSourceConfig, partSource } from '../../config/live-schema.ts';
import type { PushedPart } from '../../quoting/parts/part-pushes.ts';
import { openPartSocket } from '../../quoting/parts/part-socket.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { Finding } from './finding.ts';

/** Parts come each 200 ms. */
const WATCH_MS = 3_000;
const MIN_PUSHES = 3;
const CALL_MS = 5_000;

/** What an endpoint that follows parts is asked for. */
type PartUrls = Pick<PartSourceConfig, 'rpcUrls' | 'wsUrls'>;
type Target = Pick<ChainConfig, 'chainId' | 'multicall3'>;

/**
 * Finds out whether the nodes of a live source follow the parts of blocks: two calls to each,
 * and a subscription of three seconds. A chain without a live source is offered one.
 */
export async function checkParts(chain: ChainConfig): Promise<Finding[]> {
  const { live, rpcUrls, wsUrls = [] } = chain;
  const source = partSource(live);
  if (source) {
    const findings = await Promise.all([
      ...source.rpcUrls.map(async (url) => findingOf(chain, url, 'error', await callProblem(chain, url))),
      ...source.wsUrls.map(async (url) => findingOf(chain, url, 'warning', await socketProblem(url))),
    ]);
    return findings.flat();
  }
  const offered = live ? null : await offeredParts(chain, { rpcUrls, wsUrls });
  return (offered?.wsUrls ?? []).flatMap((url) => findingOf(chain, url, 'note', OFFER));
}

const OFFER = 'pushes parts of blocks: quotes would follow them with a live source of the kind preconfirmed';

/**
 * Those of a chain's URLs that follow parts; null where nothing shows it. A socket must push them: other nodes too may
 * run calls at the tag `pending` in a block above the head.
 */
export async function offeredParts(target: Target, { rpcUrls, wsUrls }: PartUrls): Promise<PartUrls | null> {
  const following = async (urls: readonly string[], problemOf: (url: string) => Promise<string | null>) => {
    const problems = await Promise.all(urls.map(problemOf));
    return urls.filter((_, index) => problems[index] === null);
  };
  const pushing = await following(wsUrls, socketProblem);
  if (pushing.length === 0) return null;
  const called = await following(rpcUrls, (url) => callProblem(target, url));
  return called.length === 0 ? null : { rpcUrls: called, wsUrls: pushing };
}

const findingOf = ({ chainId }: Target, url: string, level: Finding['level'], problem: string | null): Finding[] =>
  problem ? [{ chainId, url: new URL(url).origin, level, problem }] : [];

/** Why calls at the tag `pending` show no part of a block; null where they do. */
async function callProblem({ chainId, multicall3 }: Target, url: string): Promise<string | null> {
  const rpc = openRetryingRpc([url]);
  try {
    const { block } = await rpc.head();
    const { blockNumber } = await readPart({ rpc, chainId, multicall3 }, AbortSignal.timeout(CALL_MS));
    if (blockNumber > block.number) return null;
    return `follows no parts of blocks: a call at the tag pending runs at block ${blockNumber}, the head is ${block.number}`;
  } catch (error) {
    return `shows no parts of blocks: ${error instanceof RpcFailure ? error.reason : 'unknown error'}`;
  }
}

/** Why a socket pushes no parts, neither by themselves nor as heads of one number; null where it does. */
async function socketProblem(url: string): Promise<string | null> {
  const { promise: isEnough, resolve: end } = Promise.withResolvers<void>();
  const numbers = new Set<bigint>();
  let pushes = 0;
  const onPart = (part: PushedPart | undefined) => {
    // A block that is sealed comes once.
    const isFirst = part?.index === null && !numbers.has(part.blockNumber);
    if (isFirst) numbers.add(part.blockNumber);
    else pushes += 1;
    if (pushes === MIN_PUSHES) end();
  };
  const close = openPartSocket({
    url,
    onPart,
    onLog: () => undefined,
    isWanted: () => true,
    loggingAccounts: async () => [],
    logger: createLogger('config-check', 'silent'),
  });
  await Promise.race([isEnough, sleep(WATCH_MS, undefined, { ref: false })]);
  close();
  return pushes >= MIN_PUSHES ? null : `pushed ${pushes} parts of blocks in three seconds: parts are polled`;
}
