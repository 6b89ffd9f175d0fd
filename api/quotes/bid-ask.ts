import type { Context, Handler } from 'hono';
import { badQuery } from '../errors.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import { SnapshotError, type SnapshotService } from '../snapshots/types.ts';
import { quoteResponse } from './quote-body.ts';
import { poolAddressParam, poolNotServed, snapshotFailure } from './quote-errors.ts';

export interface QuotesDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly snapshots: SnapshotService;
  /** After this a batch fails as a whole, without partial results. Default: 20 seconds, as the contract says. */
  readonly batchDeadlineMs?: number;
}

/** Answers `getBidAsk`. */
export function answerBidAsk({ chains, directory, snapshots }: QuotesDeps): Handler {
  return async (c) => {
    const chainId = chainIdParam(c);
    const address = poolAddressParam(c.req.param('pool_address') ?? '');
    const depth = depthParam(c);
    const chain = servedChain(chains, chainId);
    const pool = (await directory.table()).find(chain.chainId, address);
    if (!pool) throw poolNotServed(address);
    const kind = depth ? 'depths' : 'prices';
    const snapshot =
      snapshots.cached(chain.chainId, pool, kind) ?? (await snapshots[kind](chain.chainId, [pool])).get(address);
    if (!snapshot) throw new Error(`no snapshot and no error for ${address}`);
    if (snapshot instanceof SnapshotError) throw snapshotFailure(snapshot);
    return quoteResponse(c, snapshot);
  };
}

/** @throws ApiError 400, plain text, unless it is absent, `true` or `false` */
function depthParam(c: Context): boolean {
  const text = c.req.query('depth') ?? 'true';
  if (text !== 'true' && text !== 'false') throw badQuery('depth: expected true or false');
  return text === 'true';
}
