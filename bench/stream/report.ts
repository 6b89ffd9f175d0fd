import type { Samples } from '../../test/harness/samples.ts';
import { print, printTable } from '../print.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import type { BroadcastFigures } from './broadcast.ts';
import type { CrowdFigures } from './crowd.ts';

export interface Figures {
  readonly connections: number;
  readonly crowd: CrowdFigures;
  /** One connection of each depth and chain, of all pools. */
  readonly alone: CrowdFigures;
  readonly broadcast: BroadcastFigures;
  readonly warmed: Samples;
  readonly cold: Samples;
}

/** Prints all figures beside their targets. */
export function printReport(figures: Figures, verdicts: Verdicts<'stream'>): void {
  const { connections, crowd, alone, broadcast, warmed, cold } = figures;
  const p = (samples: Samples) => `${samples.median.toFixed(0)} / ${samples.p99.toFixed(0)}`;
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  const judged = (row: readonly [string, string, string?], figure: FigureOf<'stream'>, value: number): string[] => {
    const [name, shown, bare = ''] = row;
    return [name, shown, bare, verdicts.text(figure), verdicts.verdict(figure, value)];
  };
  const cpu = [crowd, broadcast, alone].map(({ cpuPerSecond }) => cpuPerSecond.toFixed(0));
  const [cpuOfCrowd = '', cpuOfBroadcast = '', cpuAlone = ''] = cpu;
  const cpuRatio = crowd.cpuPerSecond / broadcast.cpuPerSecond;
  const growth = crowd.memoryEnd / crowd.memoryMiddle;
  const { breaks, closed, events } = crowd.counts;
  const beyondOne = crowd.callsPerBlock - alone.callsPerBlock;
  const [lost, batch] = [`changed quotes lost, of ${crowd.expected}`, 'batch of 100 requested pools at a new block'];
  printTable(
    ['', `${connections} connections`, 'bare broadcast', 'target', ''],
    [
      ['head at the node to update received, p50 / p99 ms', p(crowd.sinceHead), p(broadcast.delays)],
      ['  of it the chain read', p(crowd.reads)],
      judged(['  after the chain read', p(crowd.sinceRead)], 'update after chain read, p99 ms', crowd.sinceRead.p99),
      judged(['CPU time of a second, ms', cpuOfCrowd, cpuOfBroadcast], 'CPU/bare broadcast', cpuRatio),
      ['  with one connection of each kind', cpuAlone],
      ['memory in the middle, MB', megabytes(crowd.memoryMiddle)],
      judged(['  at the end', megabytes(crowd.memoryEnd)], 'memory, end/middle', growth),
      judged([lost, `${crowd.lost}`], 'quotes lost', crowd.lost),
      judged(['messages out of their sequence', `${breaks}`], 'messages out of sequence', breaks),
      ['chain calls of a block', crowd.callsPerBlock.toFixed(1)],
      judged(
        ['  more than with one connection of each kind', beyondOne.toFixed(1)],
        'calls a block beyond one connection',
        beyondOne,
      ),
      judged([`${batch}, p50 / p99 ms`, p(warmed)], 'requested batch, new block, p99 ms', warmed.p99),
      ['  the same without warming', p(cold)],
    ],
  );
  const list = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  print(`bytes of an update: ${crowd.bytesPlain.toFixed(0)}, with depth ${crowd.bytesDepth.toFixed(0)}`);
  print(`messages: ${list(events)}; ended by the server: ${list(closed)}`);
}
