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
  /** At most this, in the shown unit, or this many times the honest run's, or another figure's of the same run. */
  readonly most?: number;
  readonly mostRatio?: number;
  readonly mostOf?: readonly [ratio: number, figure: keyof Figures];
}

const SECOND = 1_000;
const MEGABYTE = 1_000_000;

const ROWS: readonly Row[] = [
  { name: 'first refresh of the listing, s', figure: 'refreshFirstMs', unit: SECOND },
  { name: '  of the next process, s', figure: 'refreshNextMs', unit: SECOND },
  { name: 'refresh of the listing, s', figure: 'refreshMs', unit: SECOND },
  { name: '  its CPU time, s', figure: 'refreshCpuMs', unit: SECOND, most: 2 },
  { name: "age of honest pools' prices, p99 s", figure: 'agesP99Secs', most: 15 },
  { name: 'honest pools not healthy', figure: 'unhealthy', most: 0 },
  { name: 'longest stall of the API, calm, ms', figure: 'stallCalmMs', most: 50 },
  { name: 'longest stall of the API, under load, ms', figure: 'stallLoadMs', most: 50 },
  { name: 'memory of the API, peak MB', figure: 'apiMemory', unit: MEGABYTE, most: 600 },
  { name: 'memory of capture, peak MB', figure: 'captureMemory', unit: MEGABYTE },
  { name: 'quotes from cache, p99 ms', figure: 'quotesP99', mostRatio: 1.3 },
  { name: 'quotes from cache under a flood, p99 ms', figure: 'floodedQuotesP99', mostOf: [2, 'quotesP99'] },
  { name: 'answers to the flood, a second', figure: 'floodRate' },
  { name: 'answers to the flood that show a defect', figure: 'floodBroken', most: 0 },
  { name: 'longest stall of the API, under the flood, ms', figure: 'floodStallMs', most: 50 },
  { name: 'pages of the listing, p99 ms', figure: 'pagesP99', mostRatio: 1.3 },
  { name: 'routes over the crowded pair, p99 ms', figure: 'routesP99', most: 15 },
  { name: '  with stop losses, p99 ms', figure: 'guardedRoutesP99', most: 15 },
  { name: '  at a new block, most calls', figure: 'coldCalls', most: 6 },
  { name: '  at a new block, slowest ms', figure: 'coldMs' },
  { name: '  with stop losses at a new block, most calls', figure: 'guardedColdCalls', most: 12 },
  { name: '  with stop losses at a new block, slowest ms', figure: 'guardedColdMs' },
  { name: 'requests rejected', figure: 'rejected', most: 0 },
  { name: 'start of the API, s', figure: 'startMs', unit: SECOND, most: 20 },
];

/** Both runs side by side with the targets, as Markdown. */
export function formatReport(honest: Figures, hostile: Figures): string {
  const rows = ROWS.map((row) => {
    const { name, figure, unit = 1 } = row;
    const [alone, among] = [honest[figure] / unit, hostile[figure] / unit];
    const limit = limitOf(row, honest, hostile);
    const verdict = limit === null ? '' : among <= limit ? 'pass' : 'MISS';
    return [name, shown(alone), shown(among), shown(among / alone), targetOf(row), verdict];
  });
  return formatMarkdown(['', 'honest alone', 'hostile', 'ratio', 'target', ''], rows);
}

/** In the shown unit; null without a target. */
function limitOf({ figure, unit = 1, most, mostRatio, mostOf }: Row, honest: Figures, hostile: Figures): number | null {
  if (most !== undefined) return most;
  if (mostRatio !== undefined) return (mostRatio * honest[figure]) / unit;
  return mostOf ? (mostOf[0] * hostile[mostOf[1]]) / unit : null;
}

function targetOf({ most, mostRatio, mostOf }: Row): string {
  if (most !== undefined) return String(most);
  if (mostRatio !== undefined) return `${mostRatio} x`;
  return mostOf ? `${mostOf[0]} x calm` : '';
}

function formatMarkdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(width + 1) + (column === 0 ? '-' : ':')).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

const shown = (value: number): string => (Number.isFinite(value) ? value.toFixed(value < 100 ? 2 : 0) : '');
