import { createTempFolder } from '../../local/services/temp-folder.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { type Checkout, checkOut, timeCommand, timeInstallation } from './checkout.ts';
import { timeDemo } from './demo-run.ts';
import { startChain, timeProcesses } from './process-starts.ts';

/** What is timed, and its target. */
const TIMED = {
  'npm ci': 'npm ci',
  'npm run build': 'npm run build',
  'demo: first request answered': 'demo: first request answered',
  'demo: all up': 'demo: all up',
  indexer: 'indexer ready',
  api: 'API, capture, builders ready',
  capture: 'API, capture, builders ready',
  builders: 'API, capture, builders ready',
} as const satisfies Readonly<Record<string, FigureOf<'start'>>>;
type Figures = Record<keyof typeof TIMED, Samples>;

runBench({
  name: 'start',
  description: `Installs clean checkouts of HEAD and of an earlier commit, runs the demo of each, build included, and starts each process
alone until /ready returns 200: in turns, next to "node -e 0". Needs idle cores and a warm npm cache.`,
  options: { runs: ['of each; medians are shown', 3], before: ['the earlier commit', 'HEAD^'] },
  run: async ({ runs, before }, verdicts) => {
    const folder = await createTempFolder('bench-start');
    const checkouts = [await checkOut(folder, before), await checkOut(folder, 'HEAD')];
    await bench(checkouts, { runs, chainsFile: await startChain(folder) }, verdicts);
  },
});

async function bench(
  checkouts: readonly Checkout[],
  { runs, chainsFile }: { readonly runs: number; readonly chainsFile: string },
  verdicts: Verdicts<'start'>,
): Promise<void> {
  const measured = checkouts.map((checkout) => ({ checkout, figures: noFigures() }));
  const bare = new Samples();
  for (let run = 1; run <= runs; run += 1) {
    for (const { checkout, figures } of measured) {
      print(`run ${run} of ${runs}: ${checkout.commit}`);
      await measure(checkout, figures, chainsFile);
    }
    bare.add(await timeCommand('node', ['-e', '0'], '.'));
  }
  const commits = checkouts.map(({ commit }) => commit);
  const rows = (Object.keys(TIMED) as (keyof typeof TIMED)[]).map((name) => {
    const [earlier = Number.NaN, now = Number.NaN] = measured.map(({ figures }) => figures[name].median / 1_000);
    const target = TIMED[name];
    return [name, earlier.toFixed(2), now.toFixed(2), verdicts.text(target), verdicts.verdict(target, now)];
  });
  rows.push(['node -e 0', '', (bare.median / 1_000).toFixed(2)]);
  printTable(['seconds, median', ...commits, 'target', ''], rows);
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
  Object.fromEntries(Object.keys(TIMED).map((name) => [name, new Samples()])) as unknown as Figures;
