import { pollingIntervalMs } from '../../indexer/gateway/polling-interval.ts';
import { Samples } from '../../test/harness/samples.ts';
import { print } from '../print.ts';
import type { Verdicts } from '../verdicts.ts';
import type { IndexRun } from './index-run.ts';
import type { Latencies } from './latency.ts';
import type { Reading } from './reading.ts';
import { BLOCK_TIME_SECS, type Layout } from './workload.ts';

interface IndexingResults {
  readonly layout: Layout;
  /** Events of pools. */
  readonly half: number;
  readonly all: number;
  readonly atHalf: readonly IndexRun[];
  readonly real: readonly IndexRun[];
  readonly empty: readonly IndexRun[];
}

export function printIndexing(results: IndexingResults, verdicts: Verdicts<'indexing'>): void {
  const { layout, half, all, atHalf, real, empty } = results;
  const median = (runs: readonly IndexRun[], of: keyof IndexRun) => new Samples(runs.map((run) => run[of])).median;
  const rate = (runs: readonly IndexRun[], of: keyof IndexRun) => (all / median(runs, of)).toFixed(0);
  const slower = (of: keyof IndexRun) => median(empty, of) / median(real, of);
  line('events of pools', `${half} and ${all}`);
  for (const [name, runs] of Object.entries({ empty, real })) {
    const [byCpu, byWall] = [rate(runs, 'cpuSeconds'), rate(runs, 'seconds')];
    line(`${name} handlers`, `${byCpu} events/s by CPU time, ${byWall} events/s by wall-clock time`);
  }
  const [cpu, wall] = [slower('cpuSeconds'), slower('seconds')];
  const figure = layout === 'packed' ? 'rate/empty handlers, packed' : 'rate/empty handlers';
  line(
    'real / empty',
    `${cpu.toFixed(2)} by CPU time, ${wall.toFixed(2)} by wall-clock time  ${verdicts.line(figure, cpu)}`,
  );
  const [before, after] = [median(atHalf, 'peakMegabytes'), median(real, 'peakMegabytes')];
  line('peak memory', `${before.toFixed(0)} MB at half, ${after.toFixed(0)} MB at all`);
  line('all / half', `${(after / before).toFixed(2)}  ${verdicts.line('memory, all/half', after / before)}`);
}

export function printReading(
  { events, pairs }: { readonly events: number; readonly pairs: Reading },
  verdicts: Verdicts<'indexing'>,
): void {
  const median = (of: (pair: Reading[number]) => number) => new Samples(pairs.map(of)).median;
  const rate = (of: 'one' | 'two') => (events / median((pair) => pair[of].cpuSeconds)).toFixed(0);
  line('read from one node', `${rate('one')} events/s by CPU time`);
  line('compared with two', `${rate('two')} events/s by CPU time`);
  const [cpu, wall] = (['cpuSeconds', 'seconds'] as const).map((of) => median(({ one, two }) => one[of] / two[of]));
  const verdict = verdicts.line('read and compared/read', cpu ?? 0);
  line('two / one', `${cpu?.toFixed(3)} by CPU time, ${wall?.toFixed(3)} by wall-clock time  ${verdict}`);
}

export function printLatency(latencies: Latencies): void {
  const interval = pollingIntervalMs(BLOCK_TIME_SECS * 1_000);
  line('looks at the head', `every ${interval} ms, a block every ${BLOCK_TIME_SECS} s`);
  for (const [name, times] of [
    ['receipt to row', latencies.indexed],
    ['receipt to listing', latencies.listed],
  ] as const) {
    const { count, median, p99, max } = new Samples(times);
    line(name, `p50 ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${max.toFixed(0)} ms of ${count}`);
  }
}

const line = (name: string, figures: string): void => print(`${name.padEnd(20)} ${figures}`);
