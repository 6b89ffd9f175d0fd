import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from './pace.ts';
import type { BackfillPlan } from './plan.ts';

/** What a backfill ended with. */
export type BackfillOutcome = BackfillPlan & {
  readonly blocks: number;
  readonly events: number;
  readonly seconds: number;
  /** Indexes that no reader sees and no indexer writes. */
  readonly removable: readonly string[];
};

/** Shows how a backfill goes. */
export interface Display {
  begin(plan: BackfillPlan): void;
  progress(progress: Progress): void;
  /** Removes a progress bar before anything else is written. */
  stop(): void;
  end(outcome: BackfillOutcome): void;
}

/** A bar is redrawn with every look; lines come less often. */
const LINE_EVERY_MS = 5_000;
const BAR = '{bar} {percentage}% | {value}/{total} blocks | {events} events, {rate}/s | {left} left';

type Output = NodeJS.WriteStream;

export function createDisplay(output: Output, json: boolean): Display {
  if (json) return jsonLines(output);
  return output.isTTY ? progressBar(output) : plainLines(output);
}

function progressBar(output: Output): Display {
  const bar = new SingleBar(
    { format: BAR, stream: output, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  let begun = false;
  return {
    begin: (plan) => output.write(`${describePlan(plan)}\n`),
    progress: (progress) => {
      // A bar that begins without a total would begin as full.
      if (!begun) bar.start(progress.totalBlocks, progress.doneBlocks, payloadOf(progress));
      begun = true;
      bar.setTotal(progress.totalBlocks);
      bar.update(progress.doneBlocks, payloadOf(progress));
    },
    stop: () => bar.stop(),
    end: (outcome) => output.write(describeOutcome(outcome)),
  };
}

function plainLines(output: Output): Display {
  const isDue = everyFewSeconds();
  return {
    begin: (plan) => output.write(`${describePlan(plan)}\n`),
    progress: (progress) => {
      if (!isDue()) return;
      const { events, rate, left } = payloadOf(progress);
      const { doneBlocks, totalBlocks } = progress;
      output.write(`${doneBlocks}/${totalBlocks} blocks | ${events} events, ${rate}/s | ${left} left\n`);
    },
    stop: () => undefined,
    end: (outcome) => output.write(describeOutcome(outcome)),
  };
}

function jsonLines(output: Output): Display {
  const isDue = everyFewSeconds();
  const write = (type: string, value: object) => output.write(`${JSON.stringify({ type, ...value })}\n`);
  return {
    begin: (plan) => write('begin', plan),
    progress: (progress) => isDue() && write('progress', progress),
    stop: () => undefined,
    end: (outcome) => write('end', outcome),
  };
}

function everyFewSeconds(): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lastMs < LINE_EVERY_MS) return false;
    lastMs = performance.now();
    return true;
  };
}

function payloadOf({ events, eventsPerSec, secondsLeft }: Progress): { events: number; rate: number; left: string } {
  return { events, rate: eventsPerSec, left: secondsLeft === null ? '?' : formatDuration(secondsLeft) };
}

/** Whole seconds as `1h 2m 3s`, without leading zeros. */
export function formatDuration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 && `${hours}h`, (hours > 0 || minutes > 0) && `${minutes}m`, `${seconds % 60}s`];
  return parts.filter(Boolean).join(' ');
}

function describePlan({ schema, replaces, refetched, resumed }: BackfillPlan): string {
  const logs = refetched.length > 0 ? `, logs of chain ${refetched.join(', ')} from the nodes` : '';
  const served = replaces === null ? 'nothing serves yet' : `"${replaces}" serves meanwhile`;
  return `${resumed ? 'Going on with' : 'Filling'} "${schema}" (${served}${logs})`;
}

function describeOutcome({ schema, replaces, blocks, events, seconds, removable }: BackfillOutcome): string {
  const lines = [
    `Readers are served from "${schema}": ${blocks} blocks, ${events} events, ${formatDuration(seconds)}.`,
    replaces !== null && `An indexer that wrote "${replaces}" ends with exit code 75; started again, it goes on here.`,
    removable.length > 0 && `No longer needed: npm run backfill -- drop ${removable.join(' ')}`,
  ];
  return lines
    .filter(Boolean)
    .map((line) => `${line}\n`)
    .join('');
}
