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
  const judged = (figure: FigureOf<'stream'>, value: number) => [
    verdicts.text(figure),
    verdicts.verdict(figure, value),
  ];
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  const beyondOne = crowd.callsPerBlock - alone.callsPerBlock;
  printTable(
    ['', `${connections} connections`, 'bare broadcast', 'target', ''],
    [
      ['head at the node to update received, p50 / p99 ms', p(crowd.sinceHead), p(broadcast.delays)],
      ['  of it the chain read', p(crowd.reads)],
      [
        '  after the chain read',
        p(crowd.sinceRead),
        '',
        ...judged('update after chain read, p99 ms', crowd.sinceRead.p99),
      ],
      [
        'CPU time of a second, ms',
        crowd.cpuPerSecond.toFixed(0),
        broadcast.cpuPerSecond.toFixed(0),
        ...judged('CPU/bare broadcast', crowd.cpuPerSecond / broadcast.cpuPerSecond),
      ],
      ['  with one connection of each kind', alone.cpuPerSecond.toFixed(0)],
      ['memory in the middle, MB', megabytes(crowd.memoryMiddle)],
      [
        '  at the end',
        megabytes(crowd.memoryEnd),
        '',
        ...judged('memory, end/middle', crowd.memoryEnd / crowd.memoryMiddle),
      ],
      [`changed quotes lost, of ${crowd.expected}`, `${crowd.lost}`, '', ...judged('quotes lost', crowd.lost)],
      [
        'messages out of their sequence',
        `${crowd.counts.breaks}`,
        '',
        ...judged('messages out of sequence', crowd.counts.breaks),
      ],
      ['chain calls of a block', crowd.callsPerBlock.toFixed(1)],
      [
        '  more than with one connection of each kind',
        beyondOne.toFixed(1),
        '',
        ...judged('calls a block beyond one connection', beyondOne),
      ],
      [
        'batch of 100 requested pools at a new block, p50 / p99 ms',
        p(warmed),
        '',
        ...judged('requested batch, new block, p99 ms', warmed.p99),
      ],
      ['  the same without warming', p(cold)],
    ],
  );
  const { closed, events } = crowd.counts;
  const list = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  print(`bytes of an update: ${crowd.bytesPlain.toFixed(0)}, with depth ${crowd.bytesDepth.toFixed(0)}`);
  print(`messages: ${list(events)}; ended by the server: ${list(closed)}`);
}
