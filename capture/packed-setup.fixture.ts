import pg from 'pg';
import { openChainRpc } from '../chain/chain-rpc.ts';
import { CallBudget } from '../chain/read-schedule/call-budget.ts';
import { type ChainConfig, MULTICALL3 } from '../config/chains-schema.ts';
import type { Anvil } from '../devnet/anvil.ts';
import { loadArtifact } from '../devnet/artifacts.ts';
import {
  multipliers,
  type PackedPool,
  type PackedSetup,
  startPackedSetup,
} from '../devnet/packed/random-pool.fixture.ts';
import type { PackedVariant } from '../devnet/packed/variants.ts';
import { createMigratedDatabase } from '../test/harness/database.ts';
import { createOnchainTables } from '../test/harness/onchain-tables.ts';
import { openSeeder, seedPools } from '../test/harness/seed-pools.ts';
import { createStorageCapture } from './pool-storage/capture-storage.ts';
import { CAPTURE_CLASSES, readPoolValues } from './read-schedule/pool-values.ts';

export const CHAIN = 31_337;

/** A node with one variant of packed pools, and a database with the tables of an index. */
export interface CapturedSetup {
  readonly setup: PackedSetup & { readonly anvil: Anvil };
  readonly database: pg.Pool;
  readonly databaseUrl: string;
  /** Adds a pool to the index as it was created. */
  seed(pool: PackedPool): Promise<void>;
  stop(): Promise<void>;
}

export async function startCapturedSetup(variant: PackedVariant | undefined): Promise<CapturedSetup> {
  if (variant === undefined) throw new Error('no variant');
  const [setup, created] = await Promise.all([startPackedSetup(variant), createMigratedDatabase()]);
  const { deployedBytecode: bytecode } = loadArtifact('Multicall3');
  await setup.chain.client.setCode({ address: MULTICALL3, bytecode });
  const database = new pg.Pool({ connectionString: created.url, max: 2 });
  database.on('error', () => undefined); // Dropping the database ends its sessions.
  await createOnchainTables(database);
  return {
    setup,
    database,
    databaseUrl: created.url,
    seed: (pool) => seed(created.url, setup, pool),
    stop: async () => {
      await database.end();
      await Promise.all([setup.anvil.stop(), created.drop()]);
    },
  };
}

async function seed(url: string, { deployment }: PackedSetup, pool: PackedPool): Promise<void> {
  const { address, token0, token1, recipe } = pool;
  const [token0ScaleMultiplier, token1ScaleMultiplier] = multipliers(recipe);
  const numbers = recipe.bins.map(({ bin }) => bin);
  const bins = { lowestBin: Math.min(...numbers), highestBin: Math.max(...numbers) };
  const row = { chainId: CHAIN, address, factory: deployment.poolFactory, token0, token1, ...bins };
  const seeder = openSeeder(url);
  await seedPools(seeder.db, [{ pool: { ...row, token0ScaleMultiplier, token1ScaleMultiplier } }]);
  await seeder.end();
}

/** Reads the storage of all packed pools of a chain once. */
export async function captureStorage(database: pg.Pool, chain: ChainConfig): Promise<number> {
  const rpc = openChainRpc(chain, 10_000);
  const now = () => performance.now();
  const capture = createStorageCapture({
    database,
    chainId: chain.chainId,
    now,
    budget: new CallBudget(chain.readBudget.callsPerMinute, CAPTURE_CLASSES, now),
    rpcs: { funded: rpc, remaining: rpc },
    pools: () => readPoolValues(database, chain),
  });
  return (await capture('funded')) + (await capture('remaining'));
}
