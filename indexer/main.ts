import { createServer } from 'node:net';
import { Command } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment } from '../config/environment.ts';
import { runMain } from '../runtime/run-main.ts';

const DEFAULT_PORT = '42069';
/** Readers use the views of this schema: they follow the newest complete index. */
const VIEWS_SCHEMA = 'live';
/** Rows that Ponder holds in memory, at most. */
const CACHE_BYTES = String(128 * 1024 * 1024);

runMain(async () => {
  const command = new Command('indexer')
    .description('Follows the chains of CHAINS_CONFIG into the Postgres of DATABASE_URL.')
    .option('--schema <name>', 'database schema to write; default: DATABASE_SCHEMA')
    .addHelpText(
      'after',
      `
Settings: CHAINS_CONFIG, DATABASE_URL, DATABASE_SCHEMA (onchain_1), PORT (${DEFAULT_PORT}), HOST, LOG_LEVEL.
Serves /health, /ready (complete), /status (block per chain) and /metrics. A new schema is indexed from the start;
when it is complete, the views of schema "${VIEWS_SCHEMA}" turn to it.`,
    )
    .parse();
  await start(command.opts<{ schema?: string }>().schema);
});

/** Checks the settings, then becomes Ponder: it handles signals and ends the process with 0, 1 or 75 (try again). */
async function start(schema: string | undefined): Promise<void> {
  const env = { ...process.env, PORT: process.env.PORT || DEFAULT_PORT };
  const settings = readEnvironment(
    ['CHAINS_CONFIG', 'DATABASE_URL', 'DATABASE_SCHEMA', 'PORT', 'HOST', 'LOG_LEVEL'],
    schema === undefined ? env : { ...env, DATABASE_SCHEMA: schema },
  );
  const { chains } = await import('./chains.ts');
  if (chains.length === 0) throw new ConfigError('CHAINS_CONFIG: no chain has an enabled deployment');
  await assertPortIsFree(settings.PORT, settings.HOST);
  process.env.PORT = String(settings.PORT);
  process.env.PONDER_TELEMETRY_DISABLED = '1';
  process.env.PONDER_CACHE_BYTES ||= CACHE_BYTES;
  const ponderArguments = [
    'start',
    ...['--root', new URL('.', import.meta.url).pathname],
    ...['--schema', settings.DATABASE_SCHEMA],
    ...['--views-schema', VIEWS_SCHEMA],
    ...['--hostname', settings.HOST],
    ...['--log-level', settings.LOG_LEVEL],
    ...['--log-format', 'json'],
  ];
  process.argv.splice(2, process.argv.length, ...ponderArguments);
  await import(new URL('./bin/ponder.js', import.meta.resolve('ponder')).href);
}

/** Ponder would quietly take the next free port. */
async function assertPortIsFree(port: number, host: string): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (cause: NodeJS.ErrnoException) =>
      reject(new ConfigError(`PORT: cannot listen on ${host}:${port} (${cause.code})`, { cause })),
    );
    probe.listen(port, host, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}
