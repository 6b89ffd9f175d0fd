import { eq } from 'drizzle-orm';
import { readFactory } from '../chain/discovery/read-factory.ts';
import { openRetryingRpc } from '../chain/discovery/retrying-rpc.ts';
import type { MulticallTarget } from '../chain/multicall.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import { AppError } from '../config/app-error.ts';
import type { ChainConfig, DeploymentConfig } from '../config/chains-schema.ts';
import { type FoundContract, isExtensionRole, missingRoles } from '../db/complete-chain.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import { queriesOn } from '../db/query-builder.ts';
import { foundContracts } from '../db/schema/operator.ts';
import { inTransaction } from '../db/transaction.ts';
import { insertRows } from '../db/write-rows.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ClaimedIndex } from './publication/claim-index.ts';
import { hasIndex } from './publication/ponder-tables.ts';

/** A new index needs so long at most before it answers: supervisors wait for 120 seconds. */
const MAX_MS = 60_000;

/** Nodes failed before an index was begun, which would lack what they did not show for good. */
class DiscoveryError extends AppError {
  readonly code = 'DISCOVERY';
  readonly retryable = true;
}

/**
 * What the chains show besides the chains file: standard extensions, and factories of providers. It is found when an
 * index is begun and then stays, since the index has the events of no other contracts.
 *
 * @param maxMs how long nodes are asked: of the providers of pools, the rest is not looked at then
 * @throws DiscoveryError when nodes failed: nothing is stored; an error of Postgres
 */
export async function contractsOfIndex(
  { database, schema }: Pick<ClaimedIndex, 'database' | 'schema'>,
  chains: readonly ChainConfig[],
  logger: Logger,
  maxMs = MAX_MS,
): Promise<readonly FoundContract[]> {
  if (await hasIndex(database, schema)) return readFoundContracts(database, schema);
  const signal = AbortSignal.timeout(maxMs);
  const found = (await Promise.all(chains.map((chain) => discoverChain(chain, signal, logger)))).flat();
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

async function discoverChain(chain: ChainConfig, signal: AbortSignal, logger: Logger): Promise<FoundContract[]> {
  const target = { ...chain, rpc: openRetryingRpc(chain.rpcUrls, signal) };
  const found = chain.deployments.map((deployment) =>
    discover(target, deployment, missingRoles(chain, deployment), logger),
  );
  return (await Promise.all(found)).flat();
}

/** Finds contracts in these roles. A factory that does not answer as one must not keep the service from starting. */
async function discover(
  target: MulticallTarget,
  { poolFactory: factory, layout, fromBlock }: DeploymentConfig,
  roles: readonly FoundContract['role'][],
  logger: Logger,
): Promise<FoundContract[]> {
  if (roles.length === 0) return [];
  const of = { chainId: target.chainId, factory };
  try {
    const facts = await readFactory(target, { poolFactory: factory, layout }, fromBlock);
    const { maker, unsearchedProviders } = facts;
    const wanted = facts.contracts.filter(({ role }) => roles.includes(role));
    for (const { role, address, isProven } of wanted) {
      if (isProven) logger.info({ ...of, role, address }, 'found a contract that pools use');
      else logger.warn({ ...of, role, address }, 'a contract may only look like a standard one: not used');
    }
    if (unsearchedProviders > 0)
      logger.warn(
        { ...of, unsearchedProviders },
        'nodes did not show, or not in time, which contracts made some providers of pools',
      );
    const proven = wanted.filter(({ isProven }) => isProven);
    // A deployment has one extension of each role: the one that most pools use.
    const taken = proven.filter(
      (it) => !isExtensionRole(it.role) || it === proven.find(({ role }) => role === it.role),
    );
    return maker === null ? [] : taken.map(({ role, address }) => ({ ...of, role, address, maker }));
  } catch (error) {
    if (error instanceof RpcFailure)
      throw new DiscoveryError(
        `chain ${of.chainId}: no index is begun, since its nodes did not show what pools of ${factory} use (not needed with "discover": false)`,
        { details: error.message, cause: error },
      );
    logger.warn({ ...of, err: error }, 'failed to look for contracts that pools use: a backfill tries again');
    return [];
  }
}
