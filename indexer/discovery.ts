import { eq } from 'drizzle-orm';
import type pg from 'pg';
import type { ChainRpc } from '../chain/chain-rpc.ts';
import { readFactory } from '../chain/discovery/read-factory.ts';
import { openRetryingRpc } from '../chain/discovery/retrying-rpc.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { type FoundContract, isExtensionRole, missingRoles } from '../db/complete-chain.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import { queriesOn } from '../db/query-builder.ts';
import { foundContracts } from '../db/schema/operator.ts';
import { inTransaction } from '../db/transaction.ts';
import { insertRows } from '../db/write-rows.ts';
import type { Logger } from '../runtime/logger.ts';
import { hasIndex } from './publication/ponder-tables.ts';

/**
 * What the chains show besides the chains file: standard extensions, and factories of providers. It is found when an
 * index is begun and then stays, since the index has the events of no other contracts.
 *
 * @throws an error of Postgres
 */
export async function contractsOfIndex(
  database: pg.Pool,
  schema: string,
  chains: readonly ChainConfig[],
  logger: Logger,
): Promise<readonly FoundContract[]> {
  if (await hasIndex(database, schema)) return readFoundContracts(database, schema);
  const found = (await Promise.all(chains.map((chain) => discoverChain(chain, logger)))).flat();
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    await queriesOn(client).delete(foundContracts).where(eq(foundContracts.schema, schema));
    await insertRows(
      client,
      foundContracts,
      found.map((it) => ({ schema, ...it })),
    );
  });
  return readFoundContracts(database, schema);
}

async function discoverChain(chain: ChainConfig, logger: Logger): Promise<FoundContract[]> {
  const rpc = openRetryingRpc(chain.rpcUrls);
  const found: FoundContract[] = [];
  for (const deployment of chain.deployments) {
    const roles = missingRoles(chain, deployment);
    if (roles.length > 0) found.push(...(await discover(rpc, chain.chainId, deployment, roles, logger)));
  }
  return found;
}

/** Finds contracts in these roles. A node that fails must not keep the service from starting. */
async function discover(
  rpc: ChainRpc,
  chainId: number,
  { poolFactory: factory, layout, fromBlock }: DeploymentConfig,
  roles: readonly FoundContract['role'][],
  logger: Logger,
): Promise<FoundContract[]> {
  const of = { chainId, factory };
  try {
    const { maker, contracts } = await readFactory(rpc, { poolFactory: factory, layout }, fromBlock);
    const wanted = contracts.filter(({ role }) => roles.includes(role));
    for (const { role, address, isProven, ...it } of wanted) {
      if (isProven) logger.info({ ...of, role, address }, 'found a contract that pools use');
      else
        logger.warn(
          { ...of, role, address, maker: it.maker },
          'a contract may only look like a standard one: not used',
        );
    }
    const proven = wanted.filter(({ isProven }) => isProven);
    // A deployment has one extension of each role: the one that most pools use.
    const taken = proven.filter(
      (it) => !isExtensionRole(it.role) || it === proven.find(({ role }) => role === it.role),
    );
    return maker === null ? [] : taken.map(({ role, address }) => ({ ...of, role, address, maker }));
  } catch (error) {
    logger.warn({ ...of, err: error }, 'failed to look for contracts that pools use: a backfill tries again');
    return [];
  }
}
