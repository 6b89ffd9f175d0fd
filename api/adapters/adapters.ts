import type { Context } from 'hono';
import type pg from 'pg';
import { Counter, type Registry } from 'prom-client';
import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import { defineResource } from '../declaration/api-route.ts';
import { ApiError, badRequest } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { sendReady } from '../http/ready-body.ts';
import { readInTurn } from '../read-in-turn.ts';
import { chainIdParam, parseQuery, type ServedChains, servedChain } from '../request.ts';
import * as site from './declaration.ts';
import { type ChainDay, DayQuery, getDefillamaDay } from './defillama-declaration.ts';
import type { PairAnswer, SiteAsset, SiteBlock } from './messages.ts';
import { enabledOf, factoriesOf, poolsOf, readEvents, readServed } from './read-events.ts';
import type { SitePool } from './site-events.ts';

const DAY_SECS = 86_400;

const assetOf = loadStatement<SiteAsset>('./select-asset.sql', import.meta.url, 'site-asset');
const blockOf = loadStatement<SiteBlock>('./select-block.sql', import.meta.url, 'site-block');
const blockAt = loadStatement<SiteBlock>('./select-block-at.sql', import.meta.url, 'site-block-at');
type DayRow = Omit<ChainDay, 'timestamp'> & { readonly final: boolean };
const dayOf = loadStatement<DayRow>('./select-day.sql', import.meta.url, 'site-day');

export interface AdaptersDeps {
  readonly chains: ServedChains;
  /** The replica, if there is one: rows are only read. */
  readonly database: pg.Pool;
  readonly metrics: Registry;
}

/** `GET /adapters/…`: what listing sites poll. All of it is read from the index. */
export const adaptersResource = defineResource(
  [
    site.getDexscreenerLatestBlock,
    site.getDexscreenerAsset,
    site.getDexscreenerPair,
    site.listDexscreenerEvents,
    site.getDextoolsLatestBlock,
    site.getDextoolsBlock,
    site.getDextoolsAsset,
    site.getDextoolsExchange,
    site.getDextoolsPair,
    site.listDextoolsEvents,
    getDefillamaDay,
  ],
  (deps: AdaptersDeps) => {
    const { latestBlock, asset, events } = siteHandlers(deps);
    return {
      getDexscreenerLatestBlock: latestBlock,
      getDexscreenerAsset: asset,
      async getDexscreenerPair(c) {
        return c.json({ pair: toPair(await requestedPool(c, deps)) } satisfies PairAnswer);
      },
      listDexscreenerEvents: events,
      getDextoolsLatestBlock: latestBlock,
      getDextoolsAsset: asset,
      async getDextoolsPair(c) {
        const pool = await requestedPool(c, deps);
        return c.json({ pair: { ...toPair(pool), factoryAddress: pool.factory } });
      },
      listDextoolsEvents: events,
      getDextoolsBlock: (c) => sendBlock(c, deps),
      async getDextoolsExchange(c) {
        const { chain, query } = siteRequest(c, deps, site.ExchangeQuery);
        const deployment = enabledOf(chain).find(({ poolFactory }) => poolFactory === parseAddress(query.id));
        if (!deployment) throw notServed('the factory');
        const name = `${chain.name} ${deployment.contractVersion}`;
        return c.json({ exchange: { factoryAddress: deployment.poolFactory, name } });
      },
      async getDefillamaDay(c) {
        const { chain, query } = siteRequest(c, deps, DayQuery);
        const timestamp = query.timestamp - (query.timestamp % DAY_SECS);
        const values = [chain.chainId, timestamp, factoriesOf(chain)];
        const [row] = await readInTurn(deps.database, (client) => dayOf(client, values));
        if (!row?.final) throw new ApiError(404, { error: 'The day is not final yet' });
        const { final: _, ...day } = row;
        return c.json({ timestamp, ...day } satisfies ChainDay);
      },
    };
  },
);

/** What both kinds of sites read in the same form. */
function siteHandlers(deps: AdaptersDeps) {
  const leftOutEvents = new Counter({
    name: 'adapter_left_out_events_total',
    help: 'Events that responses to listing sites left out, by why',
    labelNames: ['chain', 'reason'],
    registers: [deps.metrics],
  });
  const read = <T>(work: (client: Queryable) => Promise<T>) => readInTurn(deps.database, work);
  return {
    async latestBlock(c: Context) {
      const chain = servedChain(deps.chains, chainIdParam(c));
      const { blockNumber, blockTimestamp } = await read((client) => readServed(client, chain));
      return c.json({ block: { blockNumber, blockTimestamp } });
    },
    async asset(c: Context) {
      const { chain, query } = siteRequest(c, deps, site.AssetQuery);
      const id = addressOf(query.id);
      const [asset] = await read((client) => assetOf(client, [chain.chainId, id]));
      if (!asset) throw notServed('the token');
      return c.json({ asset });
    },
    async events(c: Context) {
      const { chain, query } = siteRequest(c, deps, site.EventsQuery);
      const { fromBlock, toBlock } = query;
      if (toBlock < fromBlock) throw badRequest('toBlock must not be below fromBlock');
      if (toBlock - fromBlock >= site.MAX_BLOCKS) throw badRequest(`at most ${site.MAX_BLOCKS} blocks at once`);
      const { body, leftOut } = await read((client) => readEvents(client, chain, query));
      for (const [reason, count] of leftOut) leftOutEvents.inc({ chain: chain.chainId, reason }, count);
      return sendReady(c, body);
    },
  };
}

/** Reads the pool that the query names. @throws ApiError 404 when its events are not served */
async function requestedPool(c: Context, deps: AdaptersDeps): Promise<SitePool> {
  const { chain, query } = siteRequest(c, deps, site.PairQuery);
  const values = [chain.chainId, [addressOf(query.id)], factoriesOf(chain)];
  const [pool] = await readInTurn(deps.database, (client) => poolsOf(client, values));
  if (!pool || pool.leftOut !== null) throw notServed('the pool');
  return pool;
}

async function sendBlock(c: Context, deps: AdaptersDeps): Promise<Response> {
  const { chain, query } = siteRequest(c, deps, site.BlockQuery);
  const { number, timestamp } = query;
  const [by, wanted] = number === undefined ? [blockAt, timestamp] : [blockOf, number];
  if (wanted === undefined) throw badRequest('number or timestamp must be given');
  const block = await readInTurn(deps.database, async (client) => {
    const { blockNumber, blockTimestamp } = await readServed(client, chain);
    const newest = { blockNumber, blockTimestamp };
    const isNewest = number === undefined ? wanted >= newest.blockTimestamp : wanted === newest.blockNumber;
    return isNewest ? newest : (await by(client, [chain.chainId, wanted, newest.blockNumber]))[0];
  });
  if (!block) throw notServed('the block');
  return c.json({ block });
}

/** @throws ApiError 400 for path and query, 404 for a chain that is not served */
function siteRequest<Schema extends Parameters<typeof parseQuery>[1]>(
  c: Context,
  { chains }: Pick<AdaptersDeps, 'chains'>,
  schema: Schema,
) {
  const chainId = chainIdParam(c);
  const query = parseQuery(c, schema);
  return { chain: servedChain(chains, chainId), query };
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (!address) throw badRequest('id is not a valid EVM address');
  return address;
}

const notServed = (what: string) => new ApiError(404, { error: `Not served: ${what}` });

const toPair = ({ address, factory, token0, token1, creator, ...pool }: SitePool): PairAnswer['pair'] => ({
  id: address,
  dexKey: factory,
  asset0Id: token0,
  asset1Id: token1,
  createdAtBlockNumber: pool.createdBlockNumber,
  createdAtBlockTimestamp: pool.createdTimestamp,
  createdAtTxnId: pool.createdTransactionHash,
  creator,
});
