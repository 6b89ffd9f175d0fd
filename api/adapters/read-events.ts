import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import { ApiError, badRequest, unavailable } from '../errors.ts';
import { ReadyBody } from '../http/ready-body.ts';
import type { SiteBlock } from './messages.ts';
import { type EventRow, type LeftOut, type SitePool, writeSiteEvents } from './site-events.ts';

/** More rows of a range than this are not served: they would take the memory of the process. */
const MAX_EVENTS = 20_000;

type Served = SiteBlock & { readonly lastBlock: number; readonly hasTransactions: boolean };
const servedUntil = loadStatement<Served>('./select-served.sql', import.meta.url, 'site-served');
const eventsBetween = loadStatement<EventRow>('./select-events.sql', import.meta.url, 'site-events');
/** Values: chain, addresses of pools, factories. */
export const poolsOf = loadStatement<SitePool>('./select-pools.sql', import.meta.url, 'site-pools');

/** The events of a range as a body, and how many are left out. The read has its turn until the body is written. */
export async function readEvents(
  client: Queryable,
  chain: ChainConfig,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
): Promise<{ readonly body: ReadyBody; readonly leftOut: ReadonlyMap<LeftOut, number> }> {
  const { lastBlock } = await readServed(client, chain);
  // An empty response would say that there are no events. Sites ask for blocks that were named, so for older ones.
  if (toBlock > lastBlock) throw new ApiError(404, { error: `Block ${toBlock} is not served yet: see latest-block` });
  const rows = await eventsBetween(client, [chain.chainId, fromBlock, toBlock, MAX_EVENTS + 1]);
  if ((rows[0]?.total ?? 0) > MAX_EVENTS) throw badRequest(`more than ${MAX_EVENTS} events: ask for fewer blocks`);
  const addresses = [...new Set(rows.map(({ pool }) => pool))];
  const pools = await poolsOf(client, [chain.chainId, addresses, factoriesOf(chain)]);
  const { json, leftOut } = await writeSiteEvents(rows, new Map(pools.map((pool) => [pool.address, pool])));
  return { body: new ReadyBody(json), leftOut };
}

/**
 * Reads the newest block whose events are served.
 *
 * @throws ApiError 503 when the chain has no index, or one of an older release, which lacks the order of transactions
 */
export async function readServed(client: Queryable, { chainId, adapters }: ChainConfig): Promise<Served> {
  const [served] = await servedUntil(client, [chainId, adapters?.lagBlocks ?? null]);
  if (!served) throw unavailable(new Error(`chain ${chainId} has no index`));
  if (!served.hasTransactions)
    throw new ApiError(503, { error: 'The index needs a backfill: it lacks the order of transactions' });
  return served;
}

export const enabledOf = ({ deployments }: ChainConfig) => deployments.filter(({ enabled }) => enabled);
export const factoriesOf = (chain: ChainConfig) => enabledOf(chain).map(({ poolFactory }) => poolFactory);
