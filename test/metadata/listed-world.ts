import pg from 'pg';
import { captureJobs } from '../../capture/capture-jobs.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { IndexedWorld, WorldChain } from '../indexing/indexed-world.ts';
import { type listingReader, type Page, readListing, STATUS_MAX_AGE_SECS } from './listing-reader.ts';

/** Names of the chains, as the listing shows them. */
export const NAMES = { 31337: 'devnet-a', 31338: 'devnet-b' } as Record<number, string>;
const DAY = 86_400;

type Row = Page['data'][number];

/** Two indexed chains whose pools are listed. The window's lower edge lies in the middle of the traffic. */
export type ListedWorld = Pick<IndexedWorld, 'chains' | 'catchUp'> & {
  readonly database: pg.Pool;
  readonly listing: ReturnType<typeof listingReader>;
  readonly rows: readonly Row[];
  readonly rowOf: (chain: WorldChain, pool: string) => Row;
  /** One round of each job, in an order in which each finds what it needs. */
  readonly runJobs: (isSelected?: (name: string) => boolean) => Promise<void>;
};

/** Trades on in a world, captures what the listing shows, and reads it. */
export async function listWorld(world: IndexedWorld): Promise<ListedWorld> {
  await actAroundWindowEdge(world);
  const database = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  const served = world.chains.map((chain) => ({
    ...chain,
    name: NAMES[chain.chainId] ?? '',
    kind: 'ethereum' as const,
    url: chain.anvil.url,
  }));
  const file = parseChainsFile(buildChainsFile(served), 'test');
  const runJobs: ListedWorld['runJobs'] = async (isSelected = () => true) => {
    const ages = { fiatMaxAgeSecs: 900, statusMaxAgeSecs: STATUS_MAX_AGE_SECS };
    const deps = { file, database, ...ages, llamaUrl: 'http://127.0.0.1:1' };
    for (const { name, run } of captureJobs({ ...deps, logger: createLogger('test', 'silent') })) {
      if (isSelected(name)) await run();
    }
  };
  // Later jobs use what earlier ones stored.
  await runJobs();
  await runJobs();
  const listing = readListing(database, file);
  const rows = (await listing.pageAcrossChains({ include24h: true, minTvlFiat: 0, count: 500 })).data;
  const rowOf = (chain: WorldChain, name: string): Row => {
    const address = chain.scenario.pools.find((pool) => pool.name === name)?.address;
    const row = rows.find((it) => it.poolAddress === address && it.chain === NAMES[chain.chainId]);
    if (!row) throw new Error(`${name} is not listed`);
    return row;
  };
  return { ...world, database, listing, rows, rowOf, runJobs };
}

/**
 * Trades on, and sets the clocks so that the window begins in the middle of all traffic:
 * what came before must not count.
 */
async function actAroundWindowEdge(world: IndexedWorld): Promise<void> {
  const edge = await middleOfTraffic(world);
  for (const { client } of world.chains) {
    await client.request({ method: 'evm_increaseTime', params: [DAY - 2_000] } as never);
  }
  await world.act(60);
  for (const { client } of world.chains) {
    await client.request({ method: 'evm_setNextBlockTimestamp', params: [edge + DAY] } as never);
    await client.request({ method: 'anvil_mine', params: [] } as never);
  }
  await world.catchUp();
}

/** A second in which both chains were in the middle of what happened so far. */
async function middleOfTraffic({ chains }: IndexedWorld): Promise<number> {
  const middles = chains.map(async ({ client }) => {
    const head = await client.getBlockNumber();
    const { timestamp } = await client.getBlock({ blockNumber: (head * 3n) / 4n });
    return Number(timestamp);
  });
  return Math.min(...(await Promise.all(middles)));
}
