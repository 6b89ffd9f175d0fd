import { formatTable, type Samples } from '../route/measure.ts';
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

/** Milliseconds that an update may take more than the chain read. */
const MAX_AFTER_READ_MS = 150;
const MAX_CPU_RATIO = 2;
const MAX_GROWTH = 1.1;
const MAX_BATCH_MS = 20;

/** All figures beside their targets. */
export function formatReport({ connections, crowd, alone, broadcast, warmed, cold }: Figures): string {
  const p = (samples: Samples) => `${samples.quantile(0.5).toFixed(0)} / ${samples.quantile(0.99).toFixed(0)}`;
  const afterRead = crowd.sinceRead.quantile(0.99);
  const cpuRatio = crowd.cpuPerSecond / broadcast.cpuPerSecond;
  const growth = crowd.memoryEnd / crowd.memoryMiddle;
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  const rows: (readonly [string, string, string, string, string])[] = [
    ['head at the node to update received, p50 / p99 ms', p(crowd.sinceHead), p(broadcast.delays), '', ''],
    ['  of it the chain read', p(crowd.reads), '', '', ''],
    [
      '  after the chain read',
      p(crowd.sinceRead),
      '',
      `p99 ${MAX_AFTER_READ_MS}`,
      verdict(afterRead, MAX_AFTER_READ_MS),
    ],
    [
      'CPU time of a second, ms',
      crowd.cpuPerSecond.toFixed(0),
      broadcast.cpuPerSecond.toFixed(0),
      `${MAX_CPU_RATIO} x`,
      verdict(cpuRatio, MAX_CPU_RATIO),
    ],
    ['  with one connection of each kind', alone.cpuPerSecond.toFixed(0), '', '', ''],
    ['memory in the middle, MB', megabytes(crowd.memoryMiddle), '', '', ''],
    ['  at the end', megabytes(crowd.memoryEnd), '', `${MAX_GROWTH} x`, verdict(growth, MAX_GROWTH)],
    [`changed quotes lost, of ${crowd.expected}`, `${crowd.lost}`, '', '0', verdict(crowd.lost, 0)],
    ['messages out of their sequence', `${crowd.counts.breaks}`, '', '0', verdict(crowd.counts.breaks, 0)],
    ['chain calls of a block', crowd.callsPerBlock.toFixed(1), '', '', ''],
    [
      '  with one connection of each kind',
      alone.callsPerBlock.toFixed(1),
      '',
      'the same',
      verdict(crowd.callsPerBlock, alone.callsPerBlock + 0.1),
    ],
    [
      'batch of 100 requested pools at a new block, p50 / p99 ms',
      p(warmed),
      '',
      `p99 ${MAX_BATCH_MS}`,
      verdict(warmed.quantile(0.99), MAX_BATCH_MS),
    ],
    ['  the same without warming', p(cold), '', '', ''],
  ];
  const { closed, events } = crowd.counts;
  const list = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return [
    formatTable(['', `${connections} connections`, 'bare broadcast', 'target', ''], rows),
    `bytes of an update: ${crowd.bytesPlain.toFixed(0)}, with depth ${crowd.bytesDepth.toFixed(0)}`,
    `messages: ${list(events)}; ended by the server: ${list(closed)}`,
  ].join('\n');
}

const verdict = (value: number, target: number): string => (value <= target ? 'pass' : 'MISS');
