import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadChainsFile } from '../../config/load-chains.ts';
import { type GatewayDeps, openGateway } from '../../indexer/gateway/gateway.ts';
import { WATCHED_MS } from '../../indexer/gateway/logs-of-two.ts';
import { createLogger } from '../../runtime/logger.ts';
import { openPool } from '../stores.ts';
import { type IndexRun, runIndex } from './index-run.ts';

/** A chain of the chains file. */
export interface BenchChain {
  readonly rpcUrls: readonly string[];
  readonly [setting: string]: unknown;
}

/** A run, with the CPU time of the gateway, which is part of the indexer otherwise. */
type ReadingRun = Pick<IndexRun, 'seconds' | 'cpuSeconds'>;

/** Runs in pairs that read all from one node, and from two. */
export type Reading = readonly { readonly one: ReadingRun; readonly two: ReadingRun }[];

/** A gateway that tells nobody of anything. */
export const silentGateway = (): GatewayDeps => ({
  countCall: () => undefined,
  countLogs: () => undefined,
  countComparison: () => undefined,
  blame: () => undefined,
  logger: createLogger('bench', 'silent'),
});

/**
 * Indexes everything without a cache, alternately from one node and from two. Of two, the share of answers is compared
 * that is so once a node was watched for an hour. Both are the same one under two addresses: its own work, which is
 * twice as much, is not counted.
 */
export async function measureReading({
  chains,
  folder,
  databaseUrl,
  rounds,
}: {
  readonly chains: readonly BenchChain[];
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rounds: number;
}): Promise<Reading> {
  let aged = 0;
  const now = () => performance.now() + aged;
  const read = async (name: string, urlsOf: (url: string) => readonly string[]) => {
    const chainsFile = join(folder, `${name}.json`);
    const entries = chains.map((chain) => ({ ...chain, rpcUrls: chain.rpcUrls.flatMap(urlsOf) }));
    await writeFile(chainsFile, JSON.stringify({ chains: entries }));
    const { url: gatewayUrl } = await openGateway(loadChainsFile(chainsFile).chains, { ...silentGateway(), now });
    return async (round: number) => {
      await dropSchema(databaseUrl, 'ponder_sync');
      const schema = `${name}_${round}`;
      const before = process.cpuUsage();
      const { seconds, cpuSeconds } = await runIndex({ root: 'real', schema, databaseUrl, chainsFile, gatewayUrl });
      const { user, system } = process.cpuUsage(before);
      await dropSchema(databaseUrl, schema);
      return { seconds, cpuSeconds: cpuSeconds + (user + system) / 1_000_000 };
    };
  };
  const fromOne = await read('one', (url) => [url]);
  const fromTwo = await read('two', (url) => [url, `${url}/?two`]);
  await fromTwo(0);
  aged = 2 * WATCHED_MS;
  const pairs: Reading[number][] = [];
  for (let round = 1; round <= rounds; round++) {
    pairs.push({ one: await fromOne(round), two: await fromTwo(round) });
  }
  return pairs;
}

/** What a run wrote would be vacuumed while the next ones are timed. */
export async function dropSchema(databaseUrl: string, schema: string): Promise<void> {
  const database = openPool(databaseUrl, 1);
  await database.query(`DROP SCHEMA ${schema} CASCADE`);
  await database.end();
}
