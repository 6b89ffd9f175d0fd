import { Command, InvalidArgumentError, Option } from 'commander';
import type pg from 'pg';
import type { ChainConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { readEnvironment, settings } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import type { BackfillBegin } from '../db/backfill-messages.ts';
import { dropSchema } from '../indexer/backfill/drop.ts';
import { InterruptedError } from '../indexer/backfill/interrupted.ts';
import { inferredFactories, readRepairs } from '../indexer/backfill/repair.ts';
import type { BackfillReport } from '../indexer/backfill/run.ts';
import { indexedChains } from '../indexer/deployments.ts';
import { listIndexSchemas } from '../indexer/publication/index-schemas.ts';
import { runMain } from '../runtime/run-main.ts';
import { chainIdArgument } from './arguments.ts';
import { addCommand, type JsonOption, onDatabase, printResult, type Result, withDatabase } from './run-command.ts';
import { formatTable } from './table.ts';

type RunOptions = JsonOption & { chains?: number[] | 'all'; repair?: true; due?: true; schema?: string; fresh?: true };

const program = new Command('backfill')
  .description(
    'Rebuilds the index in another schema while the current one serves, then switches all views to it at once.',
  )
  .option('--chains <ids>', 'fetch the logs of these chains from their nodes again: 1,56 or all', chainsArgument)
  .addOption(
    new Option(
      '--repair',
      'fetch again what differs from the chain, by the audit of the index; ends where nothing does',
    ).conflicts('chains'),
  )
  .addOption(new Option('--due', 'of --repair, only what an indexer repairs by itself').hideHelp())
  .option('--schema <name>', 'schema to fill; default: that of an unfinished run, or the next number', schemaArgument)
  .option('--fresh', 'give up an unfinished run: drop its schema and begin again')
  .option('--json', 'print one JSON object per line: begin, progress, end')
  .addHelpText(
    'after',
    `
Every chain is indexed from its first block. Logs come from the cache in the database where it has them; those of
--chains are removed from it first. Killed or stopped at any point, the same command continues where it was, unless
code or CHAINS_CONFIG changed: then it starts over.

Examples:
  npm run backfill                                  after an update of the code or of CHAINS_CONFIG
  npm run backfill -- --chains 1,56                 after a reorganisation beyond the finality window of these chains
  npm run backfill -- --repair                      when /status says that pools differ from the chain
  npm run backfill -- list --json                   which indexes there are
  npm run backfill -- drop onchain_1                remove one that is not needed any more
  npm run backfill -- --schema onchain_1            catch up with an earlier index and turn back to it

Settings: CHAINS_CONFIG, DATABASE_URL.
Exit codes: 0 done; 1 wrong setting or refused; 75 run it again: database, node or schema not available now;
130, 143 interrupted: run it again to continue.`,
  )
  .enablePositionalOptions()
  .action((options: RunOptions) => withDatabase((database) => run(database, options), 'ptd_indexer'));

addCommand(program, 'list', 'list the indexes of the database').action(
  onDatabase((database, _: JsonOption) => list(database), 'ptd_indexer'),
);

program
  .command('drop')
  .description('remove indexes that neither serve readers nor are written')
  .argument('<schema...>', 'as list names them')
  .action((schemas: string[]) => withDatabase((database) => drop(database, schemas), 'ptd_indexer'));

async function run(database: pg.Pool, { chains, repair, due, schema, fresh, json }: RunOptions): Promise<void> {
  const configured = indexedChains(loadChainsFile(readEnvironment(['CHAINS_CONFIG']).CHAINS_CONFIG).chains);
  if (configured.length === 0) throw new ConfigError('CHAINS_CONFIG: no chain has an enabled deployment');
  const inferred = due && inferredFactories(configured);
  const { fromBlocks, attempts } = (repair && (await readRepairs(database, inferred))) ?? {};
  if (fromBlocks?.size === 0)
    return printResult(json, { type: 'end', repaired: [], repairedSettings: [] }, 'Nothing to repair.\n');
  const chosen = fromBlocks ? [...fromBlocks.keys()] : chains;
  const refetch = chosen === undefined ? null : chainIdsOf(chosen, configured);
  const request = { schema, refetch, fromBlocks, attempts, fresh: fresh === true };
  const report = (line: BackfillReport) => {
    printResult(json, line, `${describe(line)}\n`);
    if (line.type === 'begin') process.send?.(line satisfies BackfillBegin);
  };
  // Loaded only here: modules that call chains load slowly, and the other commands do not need them.
  const { runBackfill } = await import('../indexer/backfill/run.ts');
  await runBackfill(database, configured, request, { report, interrupted: whenInterrupted() });
}

function describe(report: BackfillReport): string {
  if (report.type === 'progress') {
    return `${report.doneBlocks} of ${report.totalBlocks} blocks, waiting for ${report.waitingFor}`;
  }
  const { schema, replaces, refetched } = report;
  if (report.type === 'begin') {
    const logs = refetched.length > 0 ? `, logs of chain ${refetched.join(', ')} from the nodes` : '';
    const served = replaces === null ? 'nothing serves yet' : `"${replaces}" serves meanwhile`;
    return `${report.resumed ? 'Resuming' : 'Filling'} "${schema}" (${served}${logs})`;
  }
  const lines = [`Readers are served from "${schema}": ${report.blocks} blocks, ${report.seconds} s.`];
  if (replaces !== null) {
    lines.push(`An indexer that wrote "${replaces}" ends with exit code 75; started again, it continues here.`);
  }
  if (report.repaired === null)
    lines.push('Which logs it lacked, or should not have had, is unknown: Postgres took too long.');
  for (const { change, chainId, pool, blockNumber, logIndex } of report.repaired ?? [])
    lines.push(
      `${change} before: block ${blockNumber} of chain ${chainId}, ${logIndex === null ? 'new' : `log ${logIndex},`} pool ${pool}`,
    );
  if (report.repairedSettings === null)
    lines.push('Which settings it had otherwise is unknown: Postgres took too long.');
  for (const { chainId, pool, contract, account, settings } of report.repairedSettings ?? [])
    lines.push(
      `wrong before: ${settings.join(', ')} of chain ${chainId}, pool ${pool} at ${contract}${account ? ` for ${account}` : ''}`,
    );
  if (report.attempt > 1)
    lines.push(
      `Repair ${report.attempt} of what the ones before did not end: an indexer waits longer for the next one.`,
    );
  if ((report.repaired?.length !== 0 || report.repairedSettings?.length !== 0) && report.faultyNodes.length === 0)
    lines.push('Which node left logs out, or invented some, is unknown.');
  for (const { chainId, node } of report.faultyNodes)
    lines.push(`${node} of chain ${chainId} left logs out, or invented some, within the last day.`);
  if (report.removable.length > 0)
    lines.push(`No longer needed: npm run backfill -- drop ${report.removable.join(' ')}`);
  return lines.join('\n');
}

function chainIdsOf(chosen: readonly number[] | 'all', configured: readonly ChainConfig[]): number[] {
  const ids = configured.map(({ chainId }) => chainId).sort((a, b) => a - b);
  if (chosen === 'all') return ids;
  const unknown = chosen.find((id) => !ids.includes(id));
  if (unknown !== undefined)
    throw new ConfigError(`--chains: chain ${unknown} has no enabled deployment in CHAINS_CONFIG`);
  return [...new Set(chosen)].sort((a, b) => a - b);
}

const COLUMNS = {
  SCHEMA: 'name',
  SERVES: 'served',
  COMPLETE: 'complete',
  WRITTEN: 'written',
  SIZE: 'size',
  REMOVABLE: 'removable',
};

async function list(database: pg.Pool): Promise<Result> {
  const schemas = await listIndexSchemas(database);
  const rows = schemas.map((schema) => ({
    ...schema,
    size: `${(schema.bytes / 2 ** 20).toFixed(1)} MB`,
    removable: !schema.served && !schema.written,
  }));
  return { value: schemas, text: formatTable(COLUMNS, rows) };
}

async function drop(database: pg.Pool, schemas: readonly string[]): Promise<void> {
  const known = new Set((await listIndexSchemas(database)).map(({ name }) => name));
  const unknown = schemas.find((schema) => !known.has(schema));
  if (unknown !== undefined) throw new ConfigError(`"${unknown}" is no index of this database`);
  for (const schema of schemas) {
    await dropSchema(database, schema);
    process.stdout.write(`dropped ${schema}\n`);
  }
}

function whenInterrupted(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    process.once('SIGINT', () => reject(new InterruptedError('SIGINT')));
    process.once('SIGTERM', () => reject(new InterruptedError('SIGTERM')));
    // The process that started this one has ended.
    process.once('disconnect', () => reject(new InterruptedError('SIGTERM')));
  });
  interrupted.catch(() => undefined);
  return interrupted;
}

function chainsArgument(text: string): number[] | 'all' {
  if (text === 'all') return text;
  return text.split(',').map(chainIdArgument);
}

function schemaArgument(text: string): string {
  const parsed = settings.DATABASE_SCHEMA.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('not a name of at most 45 lowercase letters, digits and "_"');
  return parsed.data;
}

runMain(async () => {
  await program.parseAsync();
  // Requests to nodes in flight must not keep an interrupted run alive.
  process.exit();
});
