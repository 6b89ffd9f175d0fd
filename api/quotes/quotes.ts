import type { Address } from 'viem';
import { type Chain, quotesOf } from '../../quoting/open-chain.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { SnapshotMap } from '../../quoting/types.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import { jsonBody } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest, poolNotServed, quoteFailure, unavailable } from '../errors.ts';
import { olderBlock, setBlockHeaders } from '../http/block-headers.ts';
import { JoinedBody, sendReady } from '../http/ready-body.ts';
import {
  basisParam,
  chainIdParam,
  depthParam,
  includeParam,
  namedPools,
  poolAddressParam,
  servedChain,
} from '../request.ts';
import { getBidAsk, getBidAskBatch } from './declaration.ts';
import { overriddenQuoteResponse, quoteResponse, readyQuote } from './quote-body.ts';
import { BatchRequest } from './quote-schema.ts';
import { blocksOf, readInOneState } from './read-in-one-state.ts';

/** What quotes need of a chain. */
type Quotes = Pick<Chain, 'snapshots' | 'requested'>;
export type QuotedChain = Pick<Chain, 'chainId'> & Quotes & { readonly liveQuotes?: Quotes | undefined };

export interface QuotesDeps {
  readonly chains: ReadonlyMap<number, QuotedChain>;
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
      const basis = basisParam(c);
      const isOverridden = includeParam(c);
      const chain = servedChain(chains, chainParam);
      const { chainId } = chain;
      const { snapshots, requested } = quotesOf<Quotes>(chain, basis);
      const table = await directory.table();
      const pool = table.find(chainId, address);
      if (!pool) throw poolNotServed(address);
      const onRequest = (byKey: boolean) => requested.markRequested([pool], kind, byKey);
      onRequest(c.get('key') !== null);
      const snapshot = snapshots.cached(pool, kind) ?? (await snapshots[kind]([pool])).get(address);
      if (!snapshot || snapshot instanceof SnapshotError) throw quoteFailure(address, snapshot);
      if (isOverridden) return overriddenQuoteResponse(c, snapshot);
      return quoteResponse(c, snapshot, {
        isValid: () => table.find(chainId, address) === pool && snapshots.isCached(snapshot, kind),
        onRequest,
      });
    },
    async getBidAskBatch(c) {
      const chain = servedChain(chains, chainIdParam(c));
      const { pools, depth, basis, include } = await jsonBody(c, BatchRequest);
      const { snapshots, requested } = quotesOf<Quotes>(chain, basis ?? 'live');
      const signal = AbortSignal.timeout(batchDeadlineMs);
      if (pools.length > MAX_POOLS) {
        throw badRequest(`pools names ${pools.length} addresses; at most ${MAX_POOLS} are allowed per request`);
      }
      const named = namedPools(pools);
      const table = await directory.table();
      const served = [...named.keys()]
        .map((address) => table.find(chain.chainId, address))
        .filter((pool) => pool !== undefined);
      const kind = depth === false ? 'prices' : 'depths';
      requested.markRequested(served, kind, c.get('key') !== null);
      const readAll = () => snapshots[kind](served, { signal });
      const { read, ...overrides } = include ? await readInOneState(readAll) : { read: await readAll() };
      if (signal.aborted) {
        throw unavailable(new Error(`a batch of ${served.length} pools took over ${batchDeadlineMs} ms`));
      }
      const known = blocksOf(read);
      if (known.length > 0) setBlockHeaders(c, known.reduce(olderBlock));
      return sendReady(c, new JoinedBody(joinJson({ results: batchResults(named, read), ...overrides })));
    },
  };
});

/** The entries of a batch, made from ready quotes: quotes from cache are not serialised or compressed again. */
function batchResults(named: ReadonlyMap<Address, string>, read: SnapshotMap) {
  return [...named].map(([address, poolAddress]) => {
    const entry = read.get(address);
    if (entry && !(entry instanceof SnapshotError)) return { poolAddress, quote: new ReadyJson(readyQuote(entry)) };
    const { status, message } = quoteFailure(address, entry);
    return { poolAddress, error: { status, error: message } };
  });
}
