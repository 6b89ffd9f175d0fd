import type { Context, Handler } from 'hono';
import type { Address } from 'viem';
import { ApiError, badQuery, badRequest, internalError, unavailable } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import { SnapshotError, type SnapshotService } from '../snapshots/types.ts';
import type { RequestedPools } from '../warming/requested-pools.ts';
import { quoteResponse } from './quote-body.ts';

export interface QuotesDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly snapshots: SnapshotService;
  /** Told what clients ask for; without it nothing is read ahead. */
  readonly warmers?: { of(chainId: number): { readonly requested: Pick<RequestedPools, 'markRequested'> } };
  /** After this a batch fails as a whole, without partial results. Default: 20 seconds, as the contract says. */
  readonly batchDeadlineMs?: number;
}

/** Answers `getBidAsk`. */
export function answerBidAsk({ chains, directory, snapshots, warmers }: QuotesDeps): Handler {
  return async (c) => {
    const chainId = chainIdParam(c);
    const address = poolAddressParam(c.req.param('pool_address') ?? '');
    const depth = depthParam(c);
    const chain = servedChain(chains, chainId);
    const pool = (await directory.table()).find(chain.chainId, address);
    if (!pool) throw poolNotServed(address);
    const kind = depth ? 'depths' : 'prices';
    warmers?.of(chain.chainId).requested.markRequested([pool], kind, c.get('key') !== null);
    const ofChain = snapshots.of(chain.chainId);
    const snapshot = ofChain.cached(pool, kind) ?? (await ofChain[kind]([pool])).get(address);
    if (!snapshot) throw new Error(`no snapshot and no error for ${address}`);
    if (snapshot instanceof SnapshotError) throw snapshotFailure(snapshot);
    return quoteResponse(c, snapshot);
  };
}

/** @throws ApiError 400, plain text, unless it is absent, `true` or `false` */
export function depthParam(c: Context): boolean {
  const text = c.req.query('depth') ?? 'true';
  if (text !== 'true' && text !== 'false') throw badQuery('depth: expected true or false');
  return text === 'true';
}

/** The answer to a pool that is unknown, delisted, on another chain or on a disabled release. */
export const poolNotServed = (pool: Address): ApiError =>
  new ApiError(404, { error: `Pair metadata not found for ${pool}` });

/** The answer to a pool without a snapshot: 500 when the chain did not give it, 503 when it did not come in time. */
export function snapshotFailure(error: SnapshotError): ApiError {
  return error.code === 'read_failed' ? internalError(error) : unavailable(error);
}

/** @throws ApiError 400 with the text for what is wrong with the address of the path */
export function poolAddressParam(text: string): Address {
  const address = parseAddress(text);
  if (address) return address;
  const hasPrefix = /^0x/i.test(text);
  throw badRequest(hasPrefix ? 'Invalid pool address format' : 'pool_address is not a valid EVM address');
}
