import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { numberToHex } from 'viem';
import { expect, test, vi } from 'vitest';
import { finalityBlocks } from '../../chain/finality.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';
import { startIndexer, waitUntilIndexed } from './indexer-process.ts';

/** The patch `recovered-checkpoint`: an indexer that starts shows no block that it has undone. */

const CHAIN_ID = 31_338;

const world = openWorld(async (ends) => {
  const folder = ends.adopt(await createTempFolder('restarted'), ({ remove }) => remove());
  const { url: databaseUrl } = ends.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const database = ends.adopt(new pg.Pool({ connectionString: databaseUrl, max: 1 }), (pool) => pool.end());
  const anvil = ends.adopt(await startAnvil({ chainId: CHAIN_ID }), ({ stop }) => stop());
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, onlyTrading: true });
  const node = ends.adopt(await startRpcProxy(anvil.url), ({ stop }) => stop());
  const chainsFile = join(folder.path, 'chains.json');
  const file = buildChainsFile([{ chainId: CHAIN_ID, name: 'one', kind: 'ethereum', url: node.url, scenario }]);
  await writeFile(chainsFile, JSON.stringify(file));
  const start = async () => ends.adopt(await startIndexer({ databaseUrl, chainsFile }), ({ stop }) => stop());
  return { database, node, start, chain: await connectDevChain(anvil.url) };
});

interface Read {
  /** The newest indexed block that readers see. */
  readonly shown: number;
  /** The newest block that rows are of. */
  readonly held: number;
}

async function read(): Promise<Read> {
  const { rows } = await world.database.query<Read>(
    `SELECT block_number::float8 AS shown, (SELECT max(block_number)::float8 FROM live.pool_state) AS held
       FROM read_model.indexed_block`,
  );
  return rows[0] as Read;
}

test('while an indexer starts again, it shows the final block, to which its rows went back', async () => {
  const { node, start, chain } = world;
  const headOf = async () => Number(await chain.client.getBlockNumber());
  const heads = async () => new Map([[CHAIN_ID, await headOf()]]);
  const indexer = await start();
  await waitUntilIndexed(indexer, await heads());
  const { held } = await read();
  const final = (await headOf()) - finalityBlocks(CHAIN_ID);
  expect(held).toBeGreaterThan(final);
  await indexer.kill();

  await request(node.url, 'anvil_mine', [numberToHex(finalityBlocks(CHAIN_ID))]);
  const logs = Promise.withResolvers<void>();
  node.misbehave({ kind: 'held', until: logs.promise }, ({ method }) => method === 'eth_getLogs');
  const started = start();
  await vi.waitFor(async () => expect((await read()).held).toBeLessThanOrEqual(final));
  expect((await read()).shown).toBe(final);
  node.misbehave(null);
  logs.resolve();
  await waitUntilIndexed(await started, await heads());
  expect(await read()).toEqual({ shown: await headOf(), held });
});
