import type pg from 'pg';
import { startRedis } from '../../local/services/redis.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import type { LoadRequest } from '../hostile/load.ts';
import { givePrecedence } from '../hostile/precedence.ts';
import { seedChains } from '../hostile/seed.ts';
import { chainsFile } from '../hostile/served-process.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { type ServedApi, serveApi } from '../serve-api.ts';
import { type StreamChain, startStreamChain } from '../stream/market.ts';

const CHAIN_ID = 31_337;
const QUOTED_POOLS = 10;

export interface AttackedApi extends ServedApi {
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
  const stopAll = async () => {
    await chain.stop();
    await Promise.all([redis.stop(), folder.remove()]);
  };
  try {
    await seedChains(database, databaseUrl, [chain], true);
    const timestamp = Math.floor(Date.now() / 1_000);
    await setIndexedBlock(database, { chainId: CHAIN_ID, number: 1_000, timestamp }, MARKET.schema);
    const api = await serveApi({ folder, databaseUrl, redisUrl: redis.url, chainsFile: fileOf(chain) });
    givePrecedence(api.pid);
    const stop = async () => {
      await api.stop();
      await stopAll();
    };
    const quotes = chain.pools.flat().map((pool) => ({ path: `/public/v1/evm/${CHAIN_ID}/${pool}/bid_ask` }));
    return { ...api, stop, quotes };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

function fileOf(chain: StreamChain) {
  const { chains, ...file } = chainsFile([chain], ({ node }) => node.url);
  return { ...file, chains: [...CHAINS_FILE.chains, ...chains] };
}
