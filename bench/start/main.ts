import { Command } from 'commander';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { runMain } from '../../runtime/run-main.ts';
import { formatTable, Samples } from '../route/measure.ts';
import { type Checkout, checkOut, timeCommand, timeInstallation } from './checkout.ts';
import { timeDemo } from './demo-run.ts';
import { startChain, timeProcesses } from './process-starts.ts';

/** Seconds. */
const TARGETS = {
  'npm ci': 30,
  'npm run build': 5,
  'demo: first request answered': 15,
  'demo: all up': 20,
  indexer: 6,
  api: 2,
  capture: 2,
  builders: 2,
} as const;
type Figures = Record<keyof typeof TARGETS, Samples>;

type Options = { readonly runs: string; readonly before: string };

runMain(async () => {
  const { runs, before } = new Command('bench:start')
    .description(
      `Installs clean checkouts of HEAD and of an earlier commit, runs the demo of each, build included, and starts each process
alone until /ready returns 200: in turns, next to "node -e 0". Needs idle cores and a warm npm cache.`,
    )
    .option('--runs <number>', 'of each; medians are shown', '3')
    .option('--before <revision>', 'the earlier commit', 'HEAD^')
    .parse()
    .opts<Options>();
  const folder = await createTempFolder('bench-start');
  try {
    await bench(
      [await checkOut(folder, before), await checkOut(folder, 'HEAD')],
      Number(runs),
      await startChain(folder),
    );
  } finally {
    await stopRunningServices();
    await folder.remove();
  }
});

async function bench(checkouts: readonly Checkout[], runs: number, chainsFile: string): Promise<void> {
  const measured = checkouts.map((checkout) => ({ checkout, figures: noFigures() }));
  const bare = new Samples();
  for (let run = 1; run <= runs; run += 1) {
    for (const { checkout, figures } of measured) {
      process.stdout.write(`run ${run} of ${runs}: ${checkout.commit}\n`);
      await measure(checkout, figures, chainsFile);
    }
    bare.add(await timeCommand('node', ['-e', '0'], '.'));
  }
  const commits = checkouts.map(({ commit }) => commit);
  const rows = (Object.keys(TARGETS) as (keyof typeof TARGETS)[]).map((name) => {
    const [earlier, now] = measured.map(({ figures }) => figures[name].quantile(0.5));
    return [name, ...[earlier, now].map(seconds), `${TARGETS[name]}`, verdict(now, TARGETS[name])];
  });
  rows.push(['node -e 0', '', seconds(bare.quantile(0.5)), '', '']);
  process.stdout.write(`${formatTable(['seconds, median', ...commits, 'target', ''], rows)}\n`);
}

async function measure(checkout: Checkout, figures: Figures, chainsFile: string): Promise<void> {
  figures['npm ci'].add(await timeInstallation(checkout));
  const { answered, allUp } = await timeDemo(checkout);
  figures['demo: first request answered'].add(answered);
  figures['demo: all up'].add(allUp);
  figures['npm run build'].add(await timeCommand('npm', ['run', 'build'], checkout.path));
  const processes = await timeProcesses(checkout, chainsFile);
  for (const name of ['indexer', 'api', 'capture', 'builders'] as const) figures[name].add(processes[name]);
}

const noFigures = () =>
  Object.fromEntries(Object.keys(TARGETS).map((name) => [name, new Samples()])) as unknown as Figures;
const seconds = (milliseconds = Number.NaN): string => (milliseconds / 1_000).toFixed(2);
const verdict = (milliseconds = Number.NaN, target: number): string =>
  milliseconds <= 1_000 * target ? 'pass' : 'MISS';
