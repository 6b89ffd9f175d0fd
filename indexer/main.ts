import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { measureBlockTimes } from '../chain/block-time.ts';
import { assertChainIds } from '../chain/chain-ids.ts';
import { EXIT_RETRY } from '../config/app-error.ts';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { INDEXER_MESSAGES } from '../db/backfill-messages.ts';
import { addFaultyLogs, type FaultyLogs, readFaultyNodes } from '../db/log-faults.ts';
import { actAs } from '../db/process-roles.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { chainCallCounter } from '../runtime/chain-calls.ts';
import { portProblem } from '../runtime/free-port.ts';
import { listenError } from '../runtime/listen-error.ts';
import { createLogger, type Logger, logStart } from '../runtime/logger.ts';
import { createRegistry } from '../runtime/metrics.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { runMain } from '../runtime/run-main.ts';
import { repairIndex } from './backfill/automatic-repair.ts';
import { readNodeTurns } from './backfill/plan.ts';
import { resolveBundledPackages } from './bundled-packages.ts';
import { CACHE_BYTES } from './cache-size.ts';
import { indexedChains } from './deployments.ts';
import { contractsOfIndex } from './discovery.ts';
import { openGateway } from './gateway/gateway.ts';
import { logComparisonCounter, logFaultCounter } from './gateway/log-fault-counter.ts';
import type { StartOptions } from './ponder-command.ts';
import { divertPonderLog } from './ponder-log.ts';
import { endWithoutPort } from './ponder-port.ts';
import { claimIndex } from './publication/claim-index.ts';
import { FIRST_SCHEMA, wasReplaced } from './publication/index-schemas.ts';
import { LIVE_SCHEMA } from './publication/live-views.ts';
import { publish } from './publication/publisher.ts';
import { SchemaTakenError } from './publication/schema-lock.ts';

const DEFAULT_PORT = '4206';
/** The files that Ponder loads by name, as `npm run build` makes them. */
const PONDER_FILES = `${PROJECT_ROOT}dist/ponder`;
const PONDER_PACKAGES = `${PROJECT_ROOT}dist/packages`;

/** How Ponder rejects the rows of other code. */
const REJECTED_ROWS = /was previously used by a (different )?Ponder app/;

interface Options {
  readonly schema?: string;
  readonly build?: boolean;
}

runMain(async () => {
  const command = new Command('indexer')
    .description('Follows the chains of CHAINS_CONFIG into the Postgres of DATABASE_URL.')
    .option('--schema <name>', 'database schema to write; default: DATABASE_SCHEMA')
    .option('--build', "leave the readers' views alone, and end with the parent process: how backfill runs it")
    .addHelpText(
      'after',
      `
Settings: CHAINS_CONFIG, DATABASE_URL, DATABASE_SCHEMA, PORT (${DEFAULT_PORT}), HOST, LOG_LEVEL.
Without DATABASE_SCHEMA it continues the schema that readers are served from (the first one is ${FIRST_SCHEMA}).
Serves /health, /ready (complete), /status (block per chain), /metrics and /metrics/nodes (requests to nodes). A new schema is indexed from the start;
when it is complete, the views of schema "${LIVE_SCHEMA}" turn to it.
Exit codes: 1 wrong setting or a fault, ${EXIT_RETRY} start it again: database or node unreachable, or another schema serves now.`,
    )
    .parse();
  try {
    await start(command.opts<Options>());
  } catch (error) {
    if (!(error instanceof SchemaTakenError)) throw databaseSettingError(error, 'DATABASE_URL') ?? error;
    process.stderr.write(`DATABASE_SCHEMA: ${error.message}\n`);
    process.exit(EXIT_RETRY);
  }
});

/** Checks the settings, then runs Ponder. It handles signals and exits with 0, 1 or 75 (retry). */
async function start({ schema: chosen, build = false }: Options): Promise<void> {
  const pinned = chosen ?? process.env.DATABASE_SCHEMA;
  const given = { ...process.env };
  const env = { ...given, PORT: process.env.PORT || DEFAULT_PORT, DATABASE_SCHEMA: pinned };
  const settings = readEnvironment(
    ['CHAINS_CONFIG', 'DATABASE_URL', 'DATABASE_SCHEMA', 'PORT', 'HOST', 'LOG_LEVEL'],
    env,
  );
  const chains = indexedChains(loadChainsFile(settings.CHAINS_CONFIG).chains);
  if (chains.length === 0) throw new ConfigError('CHAINS_CONFIG: no chain has an enabled deployment');
  const logger = createLogger('indexer', settings.LOG_LEVEL);
  const [measured] = await Promise.all([
    measureBlockTimes(chains, logger),
    assertPortIsFree(settings.PORT, settings.HOST),
    assertChainIds(chains),
  ]);
  const index = await claimIndex(settings.DATABASE_URL, pinned ? settings.DATABASE_SCHEMA : null, build, logger);
  logStart(logger);
  const found = await contractsOfIndex(index, chains, logger);
  // Read by chains.ts, which Ponder's modules load afterwards.
  process.env.PONDER_FOUND_CONTRACTS = JSON.stringify(found);
  if (build) process.once('disconnect', () => process.exit(EXIT_RETRY));
  const onBuilt = build ? () => process.send?.(INDEXER_MESSAGES.complete) : undefined;
  process.env.PORT = String(settings.PORT);
  delete process.env.DATABASE_URL_FILE;
  process.env.DATABASE_URL = actAs(settings.DATABASE_URL, 'ptd_indexer');
  const nodes = createRegistry('indexer');
  // Heads are pushed to Ponder, which has no pace of its own.
  const counters = {
    countCall: chainCallCounter(nodes),
    countLogs: logFaultCounter(nodes),
    countComparison: logComparisonCounter(nodes),
  };
  const blame = (faulty: FaultyLogs) =>
    addFaultyLogs(index.database, faulty).catch((err: unknown) => logger.warn({ err }, 'could not note a faulty node'));
  const askLast = await readFaultyNodes(index.database);
  const turns = build ? await readNodeTurns(index.database, index.schema) : new Map();
  const gateway = await openGateway(measured, { ...counters, blame, askLast, turns, logger });
  const repairs = build || pinned ? null : repairIndex(index, chains, given, logger);
  void publish(index, gateway.logCounts, onBuilt, logger).then(async (reason) => {
    await repairs?.settled();
    endForRestart(logger, reason);
  });
  process.env.PONDER_GATEWAY_URL = gateway.url;
  Object.assign(globalThis, { PONDER_NODES: nodes });
  const options = { schema: index.schema, hostname: settings.HOST, logLevel: settings.LOG_LEVEL };
  endWithoutPort(settings.HOST, settings.PORT);
  await becomePonder(options).catch(async (cause: Error) => {
    if (!REJECTED_ROWS.test(cause.message)) throw cause;
    // A backfill continues a way back, whatever code runs it.
    const isWayBack = build && (await wasReplaced(index.database, index.schema).catch(() => false));
    process.send?.(INDEXER_MESSAGES.otherCode);
    const remedy = isWayBack
      ? 'turn back with that code, or "npm run backfill -- --fresh" removes it and builds a new index'
      : '"npm run backfill" builds a new index';
    throw new ConfigError(`DATABASE_SCHEMA: other code, or code for other chains, wrote "${index.schema}": ${remedy}`, {
      cause,
    });
  });
}

async function becomePonder(options: Omit<StartOptions, 'root'>): Promise<void> {
  divertPonderLog();
  process.env.PONDER_CACHE_BYTES ||= String(CACHE_BYTES);
  Object.assign(globalThis, { PONDER_IMPORT: (bundle: string) => import(bundle) });
  resolveBundledPackages(PONDER_PACKAGES);
  const { startPonder }: typeof import('./ponder-command.ts') = await import(`${PONDER_PACKAGES}/ponder/command.mjs`);
  await startPonder({ root: writableRoot(), ...options });
}

/** Copies Ponder's files to a temporary folder. Ponder writes into its root, and the project may be read-only. */
function writableRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'ponder-'));
  cpSync(PONDER_FILES, root, { recursive: true });
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** Lets Ponder shut down, with an exit code that asks for a restart. Ponder itself would exit with 0. */
function endForRestart(logger: Logger, reason: string): void {
  logger.warn({ reason }, 'the indexer ends, to be started again');
  process.once('exit', () => {
    process.exitCode = EXIT_RETRY;
  });
  process.kill(process.pid, 'SIGTERM');
}

/** Rejects a port that is in use. Ponder would silently use the next free one. */
async function assertPortIsFree(port: number, host: string): Promise<void> {
  const cause = await portProblem(port, host);
  if (cause) throw listenError('PORT', host, port, cause);
}
