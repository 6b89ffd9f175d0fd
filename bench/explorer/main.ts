import { Command } from 'commander';
import type { Browser } from 'playwright-core';
import { readPageFiles } from '../../api/explorer/page-files.ts';
import { stopRunningServices } from '../../local/services/service-process.ts';
import { runMain } from '../../runtime/run-main.ts';
import { launchBrowser } from '../../test/explorer/browser.ts';
import { formatTable } from '../route/measure.ts';
import { startBarePage } from './bare-page.ts';
import { type FirstRows, timeFirstRows } from './first-rows.ts';
import { serveList } from './served-list.ts';

const TARGET = { allKb: 80, firstKb: 30, rowsMs: 1_500 };

runMain(async () => {
  const { pools, visits } = new Command('bench:explorer')
    .description(
      `Opens the list of pools in Debian's Chromium with nothing cached, at 1.6 Mbit/s, 150 ms latency and a processor slowed
4 times, beside a static page of as many rows and bytes from a bare Hono, in turns.`,
    )
    .option('--pools <number>', 'listed over two chains', '5000')
    .option('--visits <number>', 'of each page; medians are shown', '5')
    .parse()
    .opts<{ readonly pools: string; readonly visits: string }>();
  try {
    await bench(Number(pools), Number(visits));
  } finally {
    await stopRunningServices();
  }
});

async function bench(pools: number, visits: number): Promise<void> {
  const [list, browser] = await Promise.all([serveList(pools), launchBrowser()]);
  try {
    // The server's first answer, and the browser's first page, are nobody's measure.
    const { rows, wireBytes } = await timeFirstRows(browser, list.url);
    const bare = await startBarePage(rows, wireBytes);
    const bareUrl = `http://127.0.0.1:${bare.port}`;
    await timeFirstRows(browser, bareUrl);
    const seen = await visitAlternately(browser, [list.url, bareUrl], visits);
    report(pools, await zippedBytes(), seen);
    await bare.stop(0);
  } finally {
    await browser.close();
    await list.stop();
  }
}

async function visitAlternately(browser: Browser, urls: readonly string[], visits: number): Promise<FirstRows[][]> {
  const seen: FirstRows[][] = urls.map(() => []);
  for (let turn = 0; turn < visits; turn += 1) {
    for (const [index, url] of urls.entries()) seen[index]?.push(await timeFirstRows(browser, url));
  }
  return seen;
}

/** Bytes of all files of the page, compressed. */
async function zippedBytes(): Promise<number> {
  const { page, assets } = await readPageFiles({ name: 'bench', logo: undefined });
  const bodies = [page, ...assets.values()];
  const zipped = await Promise.all(bodies.map((body) => body.zipped()));
  return zipped.reduce((sum, { length }) => sum + length, 0);
}

function report(pools: number, allBytes: number, [list = [], bare = []]: readonly (readonly FirstRows[])[]): void {
  const ofList = (figure: keyof FirstRows) => median(list.map((each) => each[figure]));
  const [rowsMs, bareMs] = [ofList('ms'), median(bare.map(({ ms }) => ms))];
  const firstBytes = ofList('fileBytes');
  process.stdout.write(`${pools} pools listed, ${ofList('rows')} rows on the page, median of ${list.length} visits\n`);
  const rows = [
    ['files in all, kB gzip', kilobytes(allBytes), '', `${TARGET.allKb}`, verdict(allBytes, 1_000 * TARGET.allKb)],
    [
      'files before the first rows, kB gzip',
      kilobytes(firstBytes),
      '',
      `${TARGET.firstKb}`,
      verdict(firstBytes, 1_000 * TARGET.firstKb),
    ],
    ['all before the first rows, with headers, kB', kilobytes(ofList('wireBytes')), '', '', ''],
    ['first rows, ms', shown(rowsMs), shown(rowsMs / bareMs), `${TARGET.rowsMs}`, verdict(rowsMs, TARGET.rowsMs)],
    ['first rows of the bare page, ms', shown(bareMs), '', '', ''],
  ];
  process.stdout.write(`${formatTable(['', '', 'x bare', 'target', ''], rows)}\n`);
}

const verdict = (value: number, target: number): string => (value <= target ? 'pass' : 'MISS');
const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(1);
const shown = (value: number): string => value.toFixed(value < 100 ? 2 : 0);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
