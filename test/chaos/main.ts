import { Command, InvalidArgumentError } from 'commander';
import { describeReport, describeViolations, violationsOf } from './report.ts';
import { runChaos } from './run-chaos.ts';
import { FULL } from './tempos.ts';

const HELP = `
Starts the whole service on two local chains that trade, with its own Postgres and Redis. For some minutes it kills
processes, Postgres and Redis, reorganises the chains, stalls their nodes and breaks builders' connections at random
times, while clients send requests. Afterwards every table must equal that of a reference run of the same chains.
Exit code 0 when nothing was lost and no client saw what the contract does not name, otherwise 1.`;

interface Options {
  readonly minutes: number;
  readonly seed?: number;
  readonly logs?: string;
}

const { minutes, seed, logs } = new Command('test:chaos')
  .description('Kills everything at random times and looks for what was lost.')
  .option('--minutes <number>', 'how long the chaos lasts', positive, 8)
  .option('--seed <number>', 'of every random decision; default: from the clock', positive)
  .option('--logs <folder>', 'write the log of every process to a file there')
  .addHelpText('after', HELP)
  .parse()
  .opts<Options>();

const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const report = await runChaos({
  ...FULL,
  seed: seed ?? Date.now() % 1_000_000_000,
  seconds: 60 * minutes,
  logs,
  say,
});
const violations = violationsOf(report);
process.stdout.write(`\n${describeReport(report)}\n`);
process.stdout.write(`violations: ${violations.length}\n${describeViolations(violations)}\n`);
// Sockets of libraries that linger must not keep it alive.
process.exit(violations.length === 0 ? 0 : 1);

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('not a positive number');
}
