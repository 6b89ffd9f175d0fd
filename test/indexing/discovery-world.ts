import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadChainsFile } from '../../config/load-chains.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';

export const CHAIN_ID = 31337;
/** Roles of contracts that a chains file may name in a deployment. */
export const NAMED = ['stopLoss', 'priceVelocityGuard', 'depositAllowlist', 'swapAllowlist'] as const;

type Deployment = ReturnType<typeof buildChainsFile>['chains'][number]['deployments'][number];

/** A deployment whose contracts must be found. */
export const nameless = (deployment: object) =>
  Object.fromEntries(
    Object.entries(deployment).filter(
      ([key]) => !(NAMED as readonly string[]).includes(key) && !/Factories$/.test(key),
    ),
  );

/** A chain with pools of both layouts, one of them with a copy of the stop loss, and files that name some of it. */
export function startedDiscoveryWorld() {
  const world = openWorld(async (ends) => {
    const folder = ends.adopt(await createTempFolder('discovery'), ({ remove }) => remove());
    const anvil = ends.adopt(await startAnvil({ chainId: CHAIN_ID }), ({ stop }) => stop());
    const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, packed: packedVariant('sumOnEdges') });
    // A pool whose stop loss has the code of the standard one.
    // Whoever made it may have written anything into its storage.
    const chain = await connectDevChain(anvil.url);
    const copy = await deployContract(chain, 'StopLoss', [scenario.deployment.poolFactory], chain.roles.untrusted);
    const [pool] = scenario.pools;
    if (!pool) throw new Error('no pool');
    await createPool(chain, scenario.deployment, {
      ...pool,
      bins: evenBins(-1, 1, 1_000),
      initialAmount0PerShareE18: 10n ** 18n,
      initialAmount1PerShareE18: 10n ** 18n,
      extensions: [stopLossExtension({ ...scenario.deployment, stopLoss: copy })],
    });
    return { folder: folder.path, url: anvil.url, scenario };
  });
  /** A chains file of the scenario. @param change what is changed in each deployment */
  const fileWith = async (name: string, change: (deployment: Deployment) => object) => {
    const { url, scenario } = world;
    const file = buildChainsFile([{ chainId: CHAIN_ID, name: 'devnet', kind: 'ethereum', url, scenario }]);
    const chains = file.chains.map((chain) => ({ ...chain, deployments: chain.deployments.map(change) }));
    const path = join(world.folder, `${name}.json`);
    await writeFile(path, JSON.stringify({ ...file, chains }));
    return path;
  };
  /** The chain of a file that names nothing, with another node and changed deployments. */
  const namelessChains = async (rpcUrl: string, change: object = {}): Promise<ChainConfig[]> => {
    const path = await fileWith('nameless', (deployment) => ({ ...nameless(deployment), ...change }));
    return loadChainsFile(path).chains.map((chain) => ({ ...chain, rpcUrls: [rpcUrl] }));
  };
  /** Runs a test before a node that lies on demand, with a database of its own. */
  const beforeProxy = async (run: (proxy: RpcProxy, databaseUrl: string, database: pg.Pool) => Promise<void>) => {
    await using opened = new AsyncDisposableStack();
    const proxy = opened.adopt(await startRpcProxy(world.url), ({ stop }) => stop());
    const home = opened.adopt(await createMigratedDatabase(), ({ drop }) => drop());
    const database = opened.adopt(new pg.Pool({ connectionString: home.url, max: 2 }), (pool) => pool.end());
    await run(proxy, home.url, database);
  };
  return { world, fileWith, namelessChains, beforeProxy };
}
