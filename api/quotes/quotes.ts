import type { Context } from 'hono';
import type { Address } from 'viem';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import type { RequestedPools } from '../../quoting/requested/requested-pools.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot, SnapshotService } from '../../quoting/types.ts';
import { jsonBody } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { ApiError, badQuery, badRequest, internalError, unavailable } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { olderBlock, tellBlock } from '../http/block-headers.ts';
import { JoinedBody, type ReadyBody, sendReady } from '../http/ready-body.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import { getBidAsk, getBidAskBatch } from './declaration.ts';
import { quoteResponse, readyQuote } from './quote-body.ts';
import { BatchRequest } from './quote-schema.ts';

export interface QuotesDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly snapshots: SnapshotService;
  /** Told what clients ask for; without it nothing is read ahead. */
  readonly warmers?: { of(chainId: number): { readonly requested: Pick<RequestedPools, 'markRequested'> } };
  /** After this a batch fails as a whole, without partial results. Default: 20 seconds, as the contract says. */
  readonly batchDeadlineMs?: number;
}

const MAX_POOLS = 100;
const DEADLINE_MS = 20_000;

/** The bid/ask endpoints, single and batch. */
export const quotesResource = defineResource([getBidAskBatch, getBidAsk], (deps: QuotesDeps) => {
  const { chains, directory, snapshots, warmers, batchDeadlineMs = DEADLINE_MS } = deps;
  return {
    async getBidAsk(c) {
      const chain = chainIdParam(c);
      const address = poolAddressParam(c.req.param('pool_address') ?? '');
      const kind = depthParam(c) ? 'depths' : 'prices';
      const { chainId } = servedChain(chains, chain);
      const table = await directory.table();
      const pool = table.find(chainId, address);
      if (!pool) throw poolNotServed(address);
      const onRequest = (byKey: boolean) => warmers?.of(chainId).requested.markRequested([pool], kind, byKey);
      onRequest(c.get('key') !== null);
      const ofChain = snapshots.of(chainId);
      const snapshot = ofChain.cached(pool, kind) ?? (await ofChain[kind]([pool])).get(address);
      if (!snapshot || snapshot instanceof SnapshotError) throw quoteFailure(address, snapshot);
      return quoteResponse(c, snapshot, {
        isValid: () => table.find(chainId, address) === pool && ofChain.isCached(snapshot, kind),
        onRequest,
      });
    },
    async getBidAskBatch(c) {
      const { chainId } = servedChain(chains, chainIdParam(c));
      const { pools, depth } = await jsonBody(c, BatchRequest);
      const signal = AbortSignal.timeout(batchDeadlineMs);
      if (pools.length > MAX_POOLS) {
        throw badRequest(`pools names ${pools.length} addresses; at most ${MAX_POOLS} are allowed per request`);
      }
      const named = namedPools(pools);
      const table = await directory.table();
      const served = [...named.keys()]
        .map((address) => table.find(chainId, address))
        .filter((pool) => pool !== undefined);
      const kind = depth === false ? 'prices' : 'depths';
      warmers?.of(chainId).requested.markRequested(served, kind, c.get('key') !== null);
      const read = await snapshots.of(chainId)[kind](served, { signal });
      if (signal.aborted) {
        throw unavailable(new Error(`a batch of ${served.length} pools took over ${batchDeadlineMs} ms`));
      }
      const blocks = [...read.values()].map((entry) => (entry instanceof SnapshotError ? undefined : entry.block));
      const known = blocks.filter((block) => block !== undefined);
      if (known.length > 0) tellBlock(c, known.reduce(olderBlock));
      return sendReady(c, new JoinedBody(batchParts(named, read)));
    },
  };
});

/** @throws ApiError 400, plain text, unless it is absent, `true` or `false` */
export function depthParam(c: Context): boolean {
  const text = c.req.query('depth') ?? 'true';
  if (text !== 'true' && text !== 'false') throw badQuery('depth: expected true or false');
  return text === 'true';
}

/** The answer to a pool that is unknown, delisted, on another chain or on a disabled release. */
export const poolNotServed = (pool: Address): ApiError =>
  new ApiError(404, { error: `Pair metadata not found for ${pool}` });

/**
 * The answer to a pool without a quote: 500 when the chain did not give it, 503 when it did not come in time.
 *
 * @param error undefined of a pool that is not served
 */
export function quoteFailure(pool: Address, error: SnapshotError | undefined): ApiError {
  if (!error) return poolNotServed(pool);
  return error.code === 'read_failed' ? internalError(error) : unavailable(error);
}

/** @throws ApiError 400 with the text for what is wrong with the address of the path */
export function poolAddressParam(text: string): Address {
  const address = parseAddress(text);
  if (address) return address;
  const hasPrefix = /^0x/i.test(text);
  throw badRequest(hasPrefix ? 'Invalid pool address format' : 'pool_address is not a valid EVM address');
}

/**
 * The pools of a list, each at its first position, with the spelling that it has there.
 *
 * @throws ApiError 400 when there are none, or one is no address
 */
export function namedPools(pools: readonly string[]): ReadonlyMap<Address, string> {
  if (pools.length === 0) throw badRequest('pools must name at least one pool address');
  const spellings = new Map<Address, string>();
  for (const [index, spelling] of pools.entries()) {
    const address = parseAddress(spelling);
    if (!address) throw badRequest(`pools[${index}] is not a valid pool address`);
    if (!spellings.has(address)) spellings.set(address, spelling);
  }
  return spellings;
}

/** The body of a batch, with ready quotes: a batch from cache serialises and compresses nothing. */
function batchParts(
  named: ReadonlyMap<Address, string>,
  read: ReadonlyMap<Address, Snapshot | SnapshotError>,
): readonly (string | ReadyBody)[] {
  const parts: (string | ReadyBody)[] = [];
  let text = '{"results":[';
  for (const [address, spelling] of named) {
    const entry = read.get(address);
    if (entry && !(entry instanceof SnapshotError)) {
      parts.push(`${text}{"poolAddress":"${spelling}","quote":`, readyQuote(entry));
      text = '},';
    } else {
      const { status, message } = quoteFailure(address, entry);
      text += `${JSON.stringify({ poolAddress: spelling, error: { status, error: message } })},`;
    }
  }
  return [...parts, `${text.slice(0, -1)}]}`];
}
