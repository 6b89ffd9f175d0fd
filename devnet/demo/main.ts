import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../../config/config-error.ts';
import { readPorts } from '../../local/processes/ports.ts';
import { Progress } from '../../local/processes/progress.ts';
import { PartEndedError, Supervisor } from '../../local/processes/supervisor.ts';
import { ServiceError } from '../../local/services/service-error.ts';
import type { DemoOptions } from './options.ts';
import { startEverything } from './start-everything.ts';

const HELP = `
Starts Postgres, Redis, two local chains with pools that trade, the indexer, the price capture, mock block builders with
their worker, and the API with its web page. One builder builds the blocks of the first chain: prices of some pools live
with it until a trade needs them. Ctrl-C stops everything and leaves nothing behind.

Settings: PORT (3000) of the API, INDEXER_PORT (42069), REDIS_URL to use a Redis of yours. 0 takes a free port.
`;

const options = new Command('demo')
  .description('Brings the whole service up on two local chains.')
  .option('--duration <seconds>', 'stop by itself this long after the start', positive)
  .option('--seed <number>', 'seed of the traffic', positive, 1)
  .option('--rate <number>', 'traffic actions per second and chain', positive, 2)
  .option('--logs <folder>', 'write the log of every process to a file there')
  .addHelpText('after', HELP)
  .parse()
  .opts<DemoOptions>();

/** A second signal within this time is the same key press: npm passes on what the terminal has sent already. */
const SAME_SIGNAL_MS = 1_000;

const progress = new Progress(process.stdout);
const supervisor = new Supervisor(progress);
process.exitCode = await run();
// Sockets of libraries that linger must not keep a stopped demo alive.
process.exit();

/** Runs until it is asked to stop, its time is over or something fails; returns the exit code. */
async function run(): Promise<number> {
  const stopped = Promise.race([whenStopSignalled(), whenTimeIsOver(options)]);
  try {
    const outcome = await Promise.race([serve(), stopped, supervisor.failure]);
    progress.print(`\nStopping (${outcome}) ...`);
    return await stopEverything(0);
  } catch (error) {
    progress.print('');
    process.stderr.write(describeFailure(error));
    return await stopEverything(1);
  }
}

async function serve(): Promise<never> {
  const startedAt = performance.now();
  const ports = await readPorts(process.env);
  progress.print('Starting the Pool Trading Data API on two local chains\n');
  const welcome = await startEverything(supervisor, ports, options);
  progress.print(`\nEverything is up after ${((performance.now() - startedAt) / 1000).toFixed(0)} s.\n\n${welcome}`);
  return new Promise(() => undefined);
}

/** Resolves when the time that `--duration` gives is over, counted from the start of the demo. */
function whenTimeIsOver({ duration }: DemoOptions): Promise<string> {
  if (duration === undefined) return new Promise(() => undefined);
  return sleep(duration * 1_000, `${duration} s are over`);
}

async function stopEverything(exitCode: number): Promise<number> {
  const failures = await supervisor.stop();
  for (const failure of failures) process.stderr.write(`could not stop ${failure}\n`);
  progress.print('Stopped.');
  return failures.length > 0 ? 1 : exitCode;
}

/** Resolves on the first signal, or when the output is closed. A later signal ends the process at once. */
function whenStopSignalled(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now();
        resolve(signal);
        // The watchdog of the services ends what is still running.
        if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      });
    }
    process.stdout.on('error', () => resolve('output closed'));
  });
}

/** One clear line for what is foreseen, with the last lines of the part's log when there are some. */
function describeFailure(error: unknown): string {
  if (error instanceof ConfigError) return `demo: ${error.message}\n`;
  if (error instanceof ServiceError || error instanceof PartEndedError) {
    const log = error.log.trim().split('\n').slice(-15).join('\n  | ');
    return `demo: ${error.message}\n${log && `  | ${log}\n`}`;
  }
  return `demo: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('not a positive number');
}
