import type pg from 'pg';
import { startRedis } from '../../local/services/redis.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import type { LoadRequest } from '../../test/abuse/timed-request.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { chainsFile } from '../../test/many-pools/chains-file.ts';
import { seedChains } from '../../test/many-pools/seed.ts';
import { startStreamChain } from '../../test/many-pools/stream-chain.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { startMeasuredService } from '../measured-process.ts';

const CHAIN_ID = 31_337;
const QUOTED_POOLS = 10;

export interface AttackedApi {
  readonly url: string;
  /** Quotes of pools of a chain that has a node. */
  readonly quotes: readonly LoadRequest[];
}

/** The API as it is run, over the seeded database and one more chain: that one has a node, and quotes. */
export async function serveAttacked(database: pg.Pool, databaseUrl: string): Promise<AttackedApi> {
  const [redis, folder, chain] = await Promise.all([
    startRedis(),
    createTempFolder('bench-history'),
    startStreamChain(CHAIN_ID, [QUOTED_POOLS]),
  ]);
  await seedChains(database, databaseUrl, [chain], true);
  const timestamp = Math.floor(Date.now() / 1_000);
  await setIndexedBlock(database, { chainId: CHAIN_ID, number: 1_000, timestamp }, MARKET.schema);
  const { chains, ...file } = chainsFile([chain], ({ node }) => node.url);
  const { url } = await startMeasuredService({
    stores: { redis, folder },
    databaseUrl,
    hasPrecedence: true,
    chainsFile: { ...file, chains: [...CHAINS_FILE.chains, ...chains] },
  });
  const quotes = chain.pools.flat().map((pool) => ({ path: `/public/v1/evm/${CHAIN_ID}/${pool}/bid_ask` }));
  return { url, quotes };
}
