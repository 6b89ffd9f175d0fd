import type { Address } from 'viem';
import type { Chain } from '../../quoting/open-chain.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import { jsonBody } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest, poolNotServed, quoteFailure, unavailable } from '../errors.ts';
import { olderBlock, setBlockHeaders } from '../http/block-headers.ts';
import { JoinedBody, type ReadyBody, sendReady } from '../http/ready-body.ts';
import { chainIdParam, depthParam, namedPools, poolAddressParam, servedChain } from '../request.ts';
import { getBidAsk, getBidAskBatch } from './declaration.ts';
import { quoteResponse, readyQuote } from './quote-body.ts';
import { BatchRequest } from './quote-schema.ts';

export interface QuotesDeps {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'chainId' | 'snapshots' | 'requested'>>;
  readonly directory: PoolDirectory;
  /** A batch that takes longer fails as a whole, without partial results. Default: 20 seconds, as in the contract. */
  readonly batchDeadlineMs?: number;
}

const MAX_POOLS = 100;
const DEADLINE_MS = 20_000;

/** The bid/ask endpoints, single and batch. */
export const quotesResource = defineResource([getBidAskBatch, getBidAsk], (deps: QuotesDeps) => {
  const { chains, directory, batchDeadlineMs = DEADLINE_MS } = deps;
  return {
    async getBidAsk(c) {
      const chainParam = chainIdParam(c);
      const address = poolAddressParam(c.req.param('pool_address') ?? '');
      const kind = depthParam(c) ? 'depths' : 'prices';
      const { chainId, snapshots, requested } = servedChain(chains, chainParam);
      const table = await directory.table();
      const pool = table.find(chainId, address);
      if (!pool) throw poolNotServed(address);
      const onRequest = (byKey: boolean) => requested.markRequested([pool], kind, byKey);
      onRequest(c.get('key') !== null);
      const snapshot = snapshots.cached(pool, kind) ?? (await snapshots[kind]([pool])).get(address);
      if (!snapshot || snapshot instanceof SnapshotError) throw quoteFailure(address, snapshot);
      return quoteResponse(c, snapshot, {
        isValid: () => table.find(chainId, address) === pool && snapshots.isCached(snapshot, kind),
        onRequest,
      });
    },
    async getBidAskBatch(c) {
      const { chainId, snapshots, requested } = servedChain(chains, chainIdParam(c));
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
      requested.markRequested(served, kind, c.get('key') !== null);
      const read = await snapshots[kind](served, { signal });
      if (signal.aborted) {
        throw unavailable(new Error(`a batch of ${served.length} pools took over ${batchDeadlineMs} ms`));
      }
      const blocks = [...read.values()].map((entry) => (entry instanceof SnapshotError ? undefined : entry.block));
      const known = blocks.filter((block) => block !== undefined);
      if (known.length > 0) setBlockHeaders(c, known.reduce(olderBlock));
      return sendReady(c, new JoinedBody(batchParts(named, read)));
    },
  };
});

/** The body of a batch, made from ready quotes: quotes from cache are not serialised or compressed again. */
function batchParts(
  named: ReadonlyMap<Address, string>,
  read: ReadonlyMap<Address, Snapshot | SnapshotError>,
): readonly (string | ReadyBody)[] {
  const results = [...named].map(([address, poolAddress]) => {
    const entry = read.get(address);
    if (entry && !(entry instanceof SnapshotError)) return { poolAddress, quote: new ReadyJson(readyQuote(entry)) };
    const { status, message } = quoteFailure(address, entry);
    return { poolAddress, error: { status, error: message } };
  });
  return joinJson({ results });
}
