import { Command, Option } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { runMain } from '../runtime/run-main.ts';
import { dayArgument } from './arguments.ts';
import { type ExportProgress, type ExportRequest, type ExportResult, exportView } from './export/export-view.ts';
import { VIEWS } from './export/rows-sql.ts';
import { FORMATS } from './export/table-file.ts';
import { EXIT_CODES, type JsonOption, printResult, withDatabase } from './run-command.ts';

type Options = JsonOption & ExportRequest;

/** Longest time of a statement. The first fetch sorts the rows of many days; later ones return at once. */
const STATEMENT_TIMEOUT_MS = 15 * 60_000;

const command = new Command('export')
  .description('Writes a view of history into files, one per chain and day (UTC): OUT/VIEW/CHAIN/DAY.FORMAT')
  .addOption(new Option('--view <name>', 'what to write').choices(Object.keys(VIEWS)).makeOptionMandatory())
  .requiredOption('--from <day>', 'first day, such as 2026-11-01', dayArgument)
  .requiredOption('--to <day>', 'the day after the last one', dayArgument)
  .addOption(new Option('--format <format>', 'of the files').choices(FORMATS).makeOptionMandatory())
  .requiredOption('--out <folder>', 'where files are written')
  .option('--force', 'write files again that are there')
  .option('--json', 'print one JSON object per line: file, end')
  .addHelpText(
    'after',
    `
Days that can still change are left out: run it again later. Yields are of the newest listing, in the file of its day. Files that are
there stay, so the same command continues what was interrupted and adds new days. It acts as the role analyst, read-only; DATABASE_URL may be a replica's.

Examples:
  npm run export -- --view trade_candle --from 2026-11-01 --to 2026-12-01 --format parquet --out history
  npm run --silent export -- --view pool_day --from 2026-11-01 --to 2026-11-08 --format csv --out days --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

async function run({ json, ...request }: Options): Promise<void> {
  if (request.from >= request.to) throw new ConfigError('--to: not after --from');
  const session = { settings: '-c default_transaction_read_only=on', statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  await withDatabase(
    async (database) => {
      const report = json ? reportJson : process.stdout.isTTY ? showBar : reportLine;
      const result = await exportView(database, request, report).catch(fileError);
      printResult(json, { type: 'end', ...result }, describe(result));
    },
    'analyst',
    session,
  );
}

const reportJson = ({ file, rows }: ExportProgress) => {
  if (file !== null) printResult(true, { type: 'file', file, rows }, '');
};
const reportLine = ({ file, rows, doneDays, totalDays }: ExportProgress) => {
  if (file !== null) process.stdout.write(`${doneDays} of ${totalDays} days: ${file}, ${rows} rows\n`);
};

const BAR_WIDTH = 30;
function showBar({ doneDays, totalDays }: ExportProgress): void {
  const bar = '#'.repeat(Math.floor((BAR_WIDTH * doneDays) / totalDays)).padEnd(BAR_WIDTH, '.');
  process.stdout.write(`\r[${bar}] ${doneDays} of ${totalDays} days${doneDays === totalDays ? '\n' : ''}`);
}

const describe = ({ files, rows, kept, notFinal }: ExportResult): string =>
  `${files} files written with ${rows} rows, ${kept} there before, ${notFinal} days not final yet\n`;

/** Turns an error of the file system into a wrong argument, and throws it. Throws other errors unchanged. */
function fileError(error: unknown): never {
  const isOfFile = error instanceof Error && 'path' in error && 'syscall' in error;
  throw isOfFile ? new ConfigError('--out cannot be written', { details: error.message, cause: error }) : error;
}

runMain(async () => {
  await run(command.parse().opts<Options>());
});
