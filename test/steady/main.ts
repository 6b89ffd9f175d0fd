import { Command, InvalidArgumentError } from 'commander';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { describeRun, describeRuns, didFail, type Run } from './report.ts';
import { runSuite } from './run-suite.ts';

const HELP = `
Every run has a seed of its own, for the order of files and of tests of units, and for what properties draw; every
second one runs beside two busy loops and a process that writes to the disk. Arguments after the number go to Vitest.

Examples:
  npm run test:steady -- 10                                  units and services, ten times
  npm run test:steady -- --seed 7 20 test/stream             a folder, twenty times, from a known seed

Exit code 1 when a test failed in any run or a signal came before the last.`;
/** What runs without further arguments. */
const SUITE = ['--project', 'unit', '--project', 'services'];

const command = new Command('test:steady')
  .description('Runs the tests again and again, and names those that fail by chance.')
  .argument('<runs>', 'how often', wholeNumber)
  .argument('[vitest...]', `arguments of Vitest; default: ${SUITE.join(' ')}`)
  .option('--seed <number>', 'of the first run; default: from the clock', wholeNumber, Date.now() % 1_000_000_000)
  .addHelpText('after', HELP)
  .passThroughOptions()
  .parse();
const [count, given] = command.processedArgs as [number, readonly string[]];
const { seed } = command.opts<{ readonly seed: number }>();
const say = (text: string) => process.stdout.write(`${text}\n`);

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupt.abort());
process.stdout.on('error', () => interrupt.abort());

const folder = await createTempFolder('steady');
const runs: Run[] = [];
while (runs.length < count && !interrupt.signal.aborted) {
  const options = { folder: folder.path, seed: seed + runs.length, loaded: runs.length % 2 === 1 };
  const args = given.length > 0 ? given : SUITE;
  const run = await runSuite({ ...options, args, signal: interrupt.signal });
  if (interrupt.signal.aborted) break;
  runs.push(run);
  say(describeRun(run, runs.length));
}
await folder.remove();
say(describeRuns(runs));
if (interrupt.signal.aborted) say(`stopped after ${runs.length} of ${count} runs`);
process.exit(runs.length === count && !runs.some(didFail) ? 0 : 1);

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('not a whole number above 0');
}
