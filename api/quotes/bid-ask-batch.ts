import type { Handler } from 'hono';
import type { Address } from 'viem';
import { jsonBody } from '../body.ts';
import { type ApiError, badRequest, unavailable } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { olderBlock, tellBlock } from '../http/block-headers.ts';
import { ReadyBody, sendReady } from '../http/ready-body.ts';
import { chainIdParam, servedChain } from '../request.ts';
import { type Snapshot, SnapshotError, type SnapshotMap } from '../snapshots/types.ts';
import { poolNotServed, type QuotesDeps, snapshotFailure } from './bid-ask.ts';
import { quoteJson } from './quote-body.ts';
import { BatchRequest } from './quote-schema.ts';

const MAX_POOLS = 100;
const DEADLINE_MS = 20_000;

/** A pool as the request spelled it. */
interface NamedPool {
  readonly spelling: string;
  readonly address: Address;
}

/** Answers `getBidAskBatch`. */
export function answerBidAskBatch(deps: QuotesDeps): Handler {
  const { chains, directory, snapshots, warmers, batchDeadlineMs = DEADLINE_MS } = deps;
  return async (c) => {
    const chainId = chainIdParam(c);
    const chain = servedChain(chains, chainId);
    const { pools, depth } = await jsonBody(c, BatchRequest);
    const signal = AbortSignal.timeout(batchDeadlineMs);
    const named = distinctPools(pools);
    const table = await directory.table();
    const served = named.flatMap(({ address }) => table.find(chain.chainId, address) ?? []);
    const kind = depth === false ? 'prices' : 'depths';
    warmers?.of(chain.chainId).requested.markRequested(served, kind, c.get('key') !== null);
    const read = await snapshots.of(chain.chainId)[kind](served, { signal });
    if (signal.aborted)
      throw unavailable(new Error(`a batch of ${served.length} pools took over ${batchDeadlineMs} ms`));
    const blocks = [...read.values()].flatMap((entry) => (entry instanceof SnapshotError ? [] : entry.block));
    if (blocks.length > 0) tellBlock(c, blocks.reduce(olderBlock));
    return sendReady(c, new ReadyBody(batchJson(named, read)));
  };
}

/**
 * The pools named, each at its first position.
 *
 * @throws ApiError 400
 */
function distinctPools(pools: readonly string[]): NamedPool[] {
  if (pools.length === 0) throw badRequest('pools must name at least one pool address');
  if (pools.length > MAX_POOLS) {
    throw badRequest(`pools names ${pools.length} addresses; at most ${MAX_POOLS} are allowed per request`);
  }
  return eachPoolOnce(pools);
}

/**
 * Pools of a list, however long, each at its first position.
 *
 * @throws ApiError 400
 */
export function eachPoolOnce(pools: readonly string[]): NamedPool[] {
  const byAddress = new Map<Address, NamedPool>();
  for (const [index, spelling] of pools.entries()) {
    const address = parseAddress(spelling);
    if (!address) throw badRequest(`pools[${index}] is not a valid pool address`);
    if (!byAddress.has(address)) byAddress.set(address, { spelling, address });
  }
  return [...byAddress.values()];
}

/** Joined from ready JSON texts of quotes: a batch from cache serialises nothing. */
function batchJson(named: readonly NamedPool[], read: SnapshotMap): string {
  const results = named.map(({ spelling, address }) => {
    const snapshot = read.get(address);
    return `{"poolAddress":"${spelling}",${outcomeJson(address, snapshot)}}`;
  });
  return `{"results":[${results.join(',')}]}`;
}

function outcomeJson(address: Address, snapshot: Snapshot | SnapshotError | undefined): string {
  if (!snapshot) return `"error":${errorJson(poolNotServed(address))}`;
  if (snapshot instanceof SnapshotError) return `"error":${errorJson(snapshotFailure(snapshot))}`;
  return `"quote":${quoteJson(snapshot)}`;
}

function errorJson({ status, message }: ApiError): string {
  return JSON.stringify({ status, error: message });
}
