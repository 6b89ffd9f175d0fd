import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { readPorts } from '../../local/processes/ports.ts';
import { runSupervised } from '../../local/processes/run-supervised.ts';
import type { DemoOptions } from './options.ts';
import { startEverything } from './start-everything.ts';

const HELP = `
Starts Postgres, Redis, two local chains with pools that trade, the indexer, the price capture, mock block builders with
their worker, and the API with its web page. One builder builds the blocks of the first chain: prices of some pools live
with it until a trade needs them. Ctrl-C stops everything and leaves nothing behind.

Settings: PORT (3000) of the API, INDEXER_PORT (4206), REDIS_URL to use a Redis of yours. 0 takes a free port.
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

await runSupervised({
  name: 'demo',
  start: async (supervisor, progress) => {
    const startedAt = performance.now();
    const ports = await readPorts(process.env);
    progress.print('Starting the Pool Trading Data API on two local chains\n');
    const welcome = await startEverything(supervisor, ports, options);
    progress.print(`\nEverything is up after ${((performance.now() - startedAt) / 1000).toFixed(0)} s.\n\n${welcome}`);
  },
  until: whenTimeIsOver(options),
});

/** Resolves when the time that `--duration` gives is over, counted from the start of the demo. */
function whenTimeIsOver({ duration }: DemoOptions): Promise<string> {
  if (duration === undefined) return new Promise(() => undefined);
  return sleep(duration * 1_000, `${duration} s are over`);
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('not a positive number');
}
