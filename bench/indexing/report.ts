import { pollingIntervalMs } from '../../indexer/gateway/polling-interval.ts';
import { summarize } from '../pamm/percentiles.ts';
import type { IndexRun } from './index-run.ts';
import type { Latencies } from './latency.ts';
import { BLOCK_TIME_SECS } from './workload.ts';

interface IndexingResults {
  /** Events of pools. */
  readonly half: number;
  readonly all: number;
  readonly atHalf: readonly IndexRun[];
  readonly real: readonly IndexRun[];
  readonly empty: readonly IndexRun[];
}

export function printIndexing({ half, all, atHalf, real, empty }: IndexingResults): void {
  const cpu = (runs: readonly IndexRun[]) => median(runs.map(({ cpuSeconds }) => cpuSeconds));
  const wall = (runs: readonly IndexRun[]) => median(runs.map(({ seconds }) => seconds));
  const peak = (runs: readonly IndexRun[]) => median(runs.map(({ peakMegabytes }) => peakMegabytes));
  print('events of pools', `${half} and ${all}`);
  for (const [name, runs] of Object.entries({ empty, real })) {
    print(`${name} handlers`, `${rate(all, cpu(runs))} by CPU time, ${rate(all, wall(runs))} by wall-clock time`);
  }
  print(
    'real / empty',
    `${ratio(cpu(empty), cpu(real))} by CPU time, ${ratio(wall(empty), wall(real))} by wall-clock time`,
  );
  print('peak memory', `${peak(atHalf).toFixed(0)} MB at half, ${peak(real).toFixed(0)} MB at all`);
  print('all / half', ratio(peak(real), peak(atHalf)));
}

export function printLatency({ indexed, listed }: Latencies): void {
  const interval = pollingIntervalMs(BLOCK_TIME_SECS * 1_000);
  print('looks at the head', `every ${interval} ms, a block every ${BLOCK_TIME_SECS} s`);
  for (const [name, times] of Object.entries({ 'receipt to row': indexed, 'receipt to listing': listed })) {
    const { count, p50, p99, max } = summarize(times);
    print(name, `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${max.toFixed(0)} ms of ${count}`);
  }
}

function print(name: string, figures: string): void {
  process.stdout.write(`${name.padEnd(20)} ${figures}\n`);
}

function rate(events: number, seconds: number): string {
  return `${(events / seconds).toFixed(0)} events/s`;
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(2);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
