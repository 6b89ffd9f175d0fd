import { readPageFiles } from '../../api/explorer/page-files.ts';
import { launchBrowser } from '../../test/explorer/browser.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import { runBench } from '../run-bench.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { startBarePage } from './bare-page.ts';
import { type FirstRows, timeFirstRows } from './first-rows.ts';
import { serveList } from './served-list.ts';

runBench({
  name: 'explorer',
  description: `Opens the list of pools in Debian's Chromium with nothing cached, at 1.6 Mbit/s, 150 ms latency and a processor slowed
4 times, beside a static page of as many rows and bytes from a bare Hono, in turns.`,
  options: { pools: ['listed over two chains', 5_000], visits: ['of each page; medians are shown', 5] },
  run: async ({ pools, visits }, verdicts) => {
    const [list, browser] = await Promise.all([serveList(pools), launchBrowser()]);
    // The server's first answer, and the browser's first page, are nobody's measure.
    const { rows, wireBytes } = await timeFirstRows(browser, list.url);
    const bare = await startBarePage(rows, wireBytes);
    const bareUrl = `http://127.0.0.1:${bare.port}`;
    await timeFirstRows(browser, bareUrl);
    const [ofList, ofBare] = [new Visits(), new Visits()];
    for (let turn = 0; turn < visits; turn += 1) {
      ofList.add(await timeFirstRows(browser, list.url));
      ofBare.add(await timeFirstRows(browser, bareUrl));
    }
    await browser.close();
    print(`${pools} pools listed, ${ofList.median('rows')} rows on the page, median of ${visits} visits`);
    report(await zippedBytes(), ofList, ofBare, verdicts);
  },
});

class Visits {
  readonly #seen: FirstRows[] = [];

  add(seen: FirstRows): void {
    this.#seen.push(seen);
  }

  median(figure: keyof FirstRows): number {
    return new Samples(this.#seen.map((each) => each[figure])).median;
  }
}

/** Bytes of all files of the page, compressed. */
async function zippedBytes(): Promise<number> {
  const { page, assets } = await readPageFiles({ name: 'bench', logo: undefined });
  const zipped = await Promise.all([page, ...assets.values()].map((body) => body.zipped()));
  return new Samples(zipped.map(({ length }) => length)).sum;
}

function report(allBytes: number, list: Visits, bare: Visits, verdicts: Verdicts<'explorer'>): void {
  const [rowsMs, bareMs] = [list.median('ms'), bare.median('ms')];
  const [allKb, firstKb, wireKb] = [allBytes, list.median('fileBytes'), list.median('wireBytes')].map(
    (it) => it / 1_000,
  );
  const judged = (figure: FigureOf<'explorer'>, value = Number.NaN) => [
    verdicts.text(figure),
    verdicts.verdict(figure, value),
  ];
  printTable(
    ['', '', 'x bare', 'target', ''],
    [
      ['files in all, kB gzip', shown(allKb), '', ...judged('all files, kB gzip', allKb)],
      ['files before the first rows, kB gzip', shown(firstKb), '', ...judged('before first rows, kB gzip', firstKb)],
      ['all before the first rows, with headers, kB', shown(wireKb)],
      ['first rows, ms', shown(rowsMs), shown(rowsMs / bareMs), ...judged('first rows, ms', rowsMs)],
      ['first rows of the bare page, ms', shown(bareMs)],
    ],
  );
}

const shown = (value = Number.NaN): string => value.toFixed(value < 10 ? 2 : value < 1_000 ? 1 : 0);
