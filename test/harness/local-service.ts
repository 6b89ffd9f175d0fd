import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain, type DevChain, setBlockTime } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { runScenario, type Scenario, type ScenarioOptions } from '../../devnet/scenario.ts';
import { ownMain } from '../../local/services/own-process.ts';
import type { ServiceError } from '../../local/services/service-error.ts';
import { type ServiceProcess, startService } from '../../local/services/service-process.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { memoryFolder } from './memory-folder.ts';
import { openWorld } from './open-world.ts';

/** What `npm start` serves in tests: a chain on which nobody trades. */

const CHAIN_ID = 31_337;
export const START_LIMIT_MS = 240_000;
export const EVENTUALLY = { timeout: 60_000, interval: 500 };

export interface LocalChain {
  readonly anvil: Anvil;
  /** For data folders: other accounts may enter it. */
  readonly temp: string;
  /** Chains file of the chain `one`; the URL of its node comes from `RPC_OF_ONE`. */
  readonly chains: string;
  readonly scenario: Scenario;
  /** The last block of the scenario. */
  readonly lastBlock: number;
  readonly remove: () => Promise<void>;
}

/**
 * @param part of the scenario
 * @param grow adds to the scenario while each transaction has a block at once
 */
export async function startLocalChain(
  part: Pick<ScenarioOptions, 'onlyTrading' | 'packed'> = { packed: packedVariant('sumOnEdges') },
  grow: (chain: DevChain, scenario: Scenario) => Promise<void> = async () => undefined,
): Promise<LocalChain> {
  const temp = await mkdtemp(join(memoryFolder(), 'start-test-'));
  await chmod(temp, 0o755); // Postgres runs as another user when this is root.
  const anvil = await startAnvil({ chainId: CHAIN_ID });
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, ...part });
  const chain = await connectDevChain(anvil.url);
  await grow(chain, scenario);
  await setBlockTime(chain, 1);
  const lastBlock = Number(await request<string>(anvil.url, 'eth_blockNumber', []));
  const served = { chainId: CHAIN_ID, name: 'one', kind: 'ethereum', url: 'env:RPC_OF_ONE', scenario } as const;
  const chains = join(temp, 'chains.json');
  await writeFile(chains, JSON.stringify(buildChainsFile([served])));
  const remove = async () => {
    await anvil.stop();
    await rm(temp, { recursive: true, force: true });
  };
  return { anvil, temp, chains, scenario, lastBlock, remove };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A command of the project, or of a copy of it, with stores of its own. */
export const localCommand = (main: string, args: readonly string[], env: Environment, cwd = PROJECT_ROOT) => ({
  name: main,
  command: process.execPath,
  args: [...ownMain(main), ...args],
  cwd,
  env: { ...process.env, DATABASE_URL: '', REDIS_URL: '', PORT: '0', INDEXER_PORT: '0', ...env },
  // Also of starts that fail, which make a Postgres before that.
  startTimeoutMs: START_LIMIT_MS,
});

type StartLocal = (
  chain: LocalChain,
  args: readonly string[],
  env?: Environment,
  cwd?: string,
  /** Gets all that it prints. */
  output?: NodeJS.WritableStream,
) => Promise<ServiceProcess>;

/** Starts `npm start`, which ends with the test, and waits until its index follows the chain. */
export const startLocal: StartLocal = (...start) => {
  const started = launch(...start);
  onTestFinished(() => endOf(started));
  return started;
};

/** Gives `startLocal` for the tests of one file: what they start ends after the last of them, whatever fails. */
export function localStarter(): StartLocal {
  const file = openWorld(async (ends) => ({ ends }));
  return (...start) => {
    const started = launch(...start);
    file.ends.defer(() => endOf(started));
    return started;
  };
}

const launch: StartLocal = ({ anvil }, args, env = {}, cwd, output) =>
  startService({
    ...localCommand('start', args, { RPC_OF_ONE: anvil.url, ...env }, cwd),
    output,
    ready: /ready: the index follows/,
    stopTimeoutMs: 20_000,
  }).catch((cause: ServiceError) => {
    throw new Error(`${cause.message}\n${cause.log}`, { cause });
  });

const endOf = (started: Promise<ServiceProcess>): Promise<void> =>
  started.then(
    (service) => service.stop(),
    () => undefined, // The test has failed with it.
  );

/** Addresses of APIs: what is printed later takes the place of the line. */
const apis = new WeakMap<ServiceProcess, string>();
/** Where the API of a run is. */
export function apiOf(run: ServiceProcess): string {
  const api = apis.get(run) ?? /API +(http:[^\s,]+)/.exec(run.recentOutput())?.[1] ?? '';
  if (api !== '') apis.set(run, api);
  return api;
}

/** The key that was shown once. */
export const keyOf = (run: ServiceProcess): string => /key +(ptd_\S+)/.exec(run.recentOutput())?.[1] ?? '';

/** The market has some pools that are not listed. */
const LISTED = 25;

/** Waits until everything that happened is indexed, the listing is there, and one of its pools has a healthy quote. */
export async function healthyQuote({ lastBlock }: LocalChain, run: ServiceProcess, listed = LISTED): Promise<void> {
  const base = `${apiOf(run)}/public/v1/evm/${CHAIN_ID}`;
  await vi.waitFor(async () => {
    const { chains: states } = (await (await fetch(`${apiOf(run)}/public/v1/status`)).json()) as Status;
    expect(states[0]?.indexedBlock).toBeGreaterThanOrEqual(lastBlock);
    const { total, data } = (await (await fetch(`${base}/metadata?count=100`)).json()) as Listing;
    expect(total).toBeGreaterThan(listed);
    const quotes = data.map(async ({ poolAddress }) => (await fetch(`${base}/${poolAddress}/bid_ask`)).json());
    const statuses = (await Promise.all(quotes)).map((quote) => (quote as Quote).priceProviderStatus);
    expect(statuses).toContain('healthy');
  }, EVENTUALLY);
}

interface Status {
  readonly chains: readonly { readonly indexedBlock: number | null }[];
}
interface Listing {
  readonly total: number;
  readonly data: readonly { readonly poolAddress: string }[];
}
interface Quote {
  readonly priceProviderStatus: string;
}

/** Status of a quote update without content: 401 when the key is not valid. */
export async function statusOfQuoteUpdate(run: ServiceProcess, key: string): Promise<number> {
  const url = `${apiOf(run)}/public/v1/evm/${CHAIN_ID}/pamm-quote`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
}

const TABLES = ['pool', 'pool_state', 'pool_bin', 'swap', 'liquidity_change', 'pool_activity'];

/**
 * A digest of each table's rows once all that happened is indexed. An indexer that goes on with the index of a backfill
 * begins at the last final block.
 */
export const wholeDigestOf = ({ lastBlock }: LocalChain, data: string): ReturnType<typeof digestOf> =>
  vi.waitFor(async () => {
    const { block, ...digests } = await digestOf(data, [
      '(SELECT max(block_number) FROM read_model.indexed_block) AS block',
    ]);
    expect(Number(block)).toBeGreaterThanOrEqual(lastBlock);
    return digests;
  }, EVENTUALLY);

/** A digest of each table's rows. @param columns further ones of the same statement */
export async function digestOf(
  data: string,
  columns: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const digests = TABLES.map(
    (table) => `(SELECT md5(string_agg(t::text, ';' ORDER BY t::text)) FROM read_model.${table} t) AS ${table}`,
  );
  const row = await readData(data, `SELECT ${[...digests, ...columns].join(', ')}`);
  for (const table of TABLES) expect(row[table], table).toMatch(/^[0-9a-f]{32}$/);
  return row;
}

/** Reads a row with the settings for the other commands. */
export async function readData(data: string, sql: string): Promise<Record<string, string>> {
  const settings = await readFile(join(data, 'settings.sh'), 'utf8');
  const url = /DATABASE_URL='([^']+)'/.exec(settings)?.[1] ?? '';
  const client = new pg.Client({ connectionString: url, options: '-c role=ptd_operator' });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}
