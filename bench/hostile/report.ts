import { print, printTable } from '../print.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import type { AuditFigures } from './audit.ts';
import type { RefreshCost } from './refresh.ts';

/** Figures of one run. Times in milliseconds unless the name says otherwise. */
export interface Figures extends RefreshCost {
  readonly agesP99Secs: number;
  readonly unhealthy: number;
  readonly stallCalmMs: number;
  readonly stallLoadMs: number;
  readonly apiMemory: number;
  readonly captureMemory: number;
  readonly quotesP99: number;
  readonly pagesP99: number;
  readonly routesP99: number;
  readonly guardedRoutesP99: number;
  readonly floodedQuotesP99: number;
  /** Requests of the flood that were answered in a second. */
  readonly floodRate: number;
  readonly floodStallMs: number;
  readonly floodBroken: number;
  readonly coldCalls: number;
  readonly coldMs: number;
  readonly guardedColdCalls: number;
  readonly guardedColdMs: number;
  readonly startMs: number;
  /** Answers to these requests that were not 200. */
  readonly rejected: number;
}

interface Row {
  readonly name: string;
  readonly figure: keyof Figures;
  /** Shown in these units. */
  readonly unit?: number;
  readonly target?: FigureOf<'hostile'>;
  /**
   * What is compared with the target: the shown value, by default,
   * or its ratio to the honest run or to that run's quotes.
   */
  readonly of?: 'honest' | 'calm quotes';
}

const SECOND = 1_000;
const MEGABYTE = 1_000_000;

const ROWS: readonly Row[] = [
  { name: 'first refresh of the listing, s', figure: 'refreshFirstMs', unit: SECOND },
  { name: '  of the next process, s', figure: 'refreshNextMs', unit: SECOND },
  { name: 'refresh of the listing, s', figure: 'refreshMs', unit: SECOND },
  { name: '  its CPU time, s', figure: 'refreshCpuMs', unit: SECOND, target: 'refresh, CPU s' },
  { name: "age of honest pools' prices, p99 s", figure: 'agesP99Secs', target: 'age of honest prices, p99 s' },
  { name: 'honest pools not healthy', figure: 'unhealthy', target: 'unhealthy honest pools' },
  { name: 'longest stall of the API, calm, ms', figure: 'stallCalmMs', target: 'longest stall, ms' },
  { name: 'longest stall of the API, under load, ms', figure: 'stallLoadMs', target: 'longest stall, ms' },
  { name: 'memory of the API, peak MB', figure: 'apiMemory', unit: MEGABYTE, target: 'memory, MB' },
  { name: 'memory of capture, peak MB', figure: 'captureMemory', unit: MEGABYTE },
  { name: 'quotes from cache, p99 ms', figure: 'quotesP99', target: 'quotes, p99/honest market', of: 'honest' },
  {
    name: 'quotes from cache under a flood, p99 ms',
    figure: 'floodedQuotesP99',
    target: 'quotes, flooded/calm, p99',
    of: 'calm quotes',
  },
  { name: 'answers to the flood, a second', figure: 'floodRate' },
  { name: 'answers to the flood that show a defect', figure: 'floodBroken', target: 'defects' },
  { name: 'longest stall of the API, under the flood, ms', figure: 'floodStallMs', target: 'longest stall, ms' },
  { name: 'pages of the listing, p99 ms', figure: 'pagesP99', target: 'pages, p99/honest market', of: 'honest' },
  { name: 'routes over the crowded pair, p99 ms', figure: 'routesP99', target: 'crowded routes, p99 ms' },
  { name: '  with stop losses, p99 ms', figure: 'guardedRoutesP99', target: 'crowded routes, p99 ms' },
  { name: '  at a new block, most calls', figure: 'coldCalls', target: 'calls at new block' },
  { name: '  at a new block, slowest ms', figure: 'coldMs' },
  {
    name: '  with stop losses at a new block, most calls',
    figure: 'guardedColdCalls',
    target: 'calls at new block, guarded',
  },
  { name: '  with stop losses at a new block, slowest ms', figure: 'guardedColdMs' },
  { name: 'requests rejected', figure: 'rejected', target: 'rejected requests' },
  { name: 'start of the API, s', figure: 'startMs', unit: SECOND, target: 'start, s' },
];

/** Prints both runs side by side with the targets. */
export function printReport(honest: Figures, hostile: Figures, verdicts: Verdicts<'hostile'>): void {
  const rows = ROWS.map(({ name, figure, unit = 1, target, of }) => {
    const [alone, among] = [honest[figure] / unit, hostile[figure] / unit];
    const cells = [name, ...[alone, among, among / alone].map(shown)];
    if (!target) return cells;
    const compared = { honest: among / alone, 'calm quotes': among / hostile.quotesP99, value: among };
    const times = of === undefined ? '' : ` x ${of}`;
    return [...cells, `${verdicts.text(target)}${times}`, verdicts.verdict(target, compared[of ?? 'value'])];
  });
  printTable(['', 'honest alone', 'hostile', 'ratio', 'target', ''], rows);
}

const shown = (value: number): string => (Number.isFinite(value) ? value.toFixed(value < 100 ? 2 : 0) : '');

export function printAudit(figures: AuditFigures, verdicts: Verdicts<'hostile'>): void {
  const { callsPerMinute, budget, tried, listed, runMs } = figures;
  const ofBudget = callsPerMinute / budget;
  const listedPct = (100 * listed) / tried;
  print(`audit: ${tried} pools, a run takes ${runMs.toFixed(0)} ms besides its calls`);
  const [calls, turns] = ['audit, calls a minute/budget', 'audit, turns of listed pools, %'] as const;
  print(`${calls.padEnd(34)} ${ofBudget.toFixed(2)}  ${verdicts.line(calls, ofBudget)}`);
  print(`${turns.padEnd(34)} ${listedPct.toFixed(0)}  ${verdicts.line(turns, listedPct)}`);
}
