import { Presets, SingleBar } from 'cli-progress';
import type { BackfillPlan } from './plan.ts';
import type { Progress, Wait } from './progress.ts';

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
  /** @param progress null before there is any, @param wait null while it gets on */
  progress(progress: Progress | null, wait: Wait | null): void;
  /** Removes a progress bar before anything else is written. */
  stop(): void;
  end(outcome: BackfillOutcome): void;
}

/** A bar is redrawn with every call; lines come less often. */
const LINE_EVERY_MS = 5_000;
/** Short enough for what follows on a terminal of 80 columns, which cuts the rest. */
const BAR_COLUMNS = 20;
const BAR = '{bar} {percentage}% | {text}';

type Output = NodeJS.WriteStream;

export function createDisplay(output: Output, json: boolean): Display {
  if (json) return jsonLines(output);
  return output.isTTY ? progressBar(output) : plainLines(output);
}

function progressBar(output: Output): Display {
  const bar = new SingleBar(
    { format: BAR, barsize: BAR_COLUMNS, stream: output, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  const beforeBar = plainLines(output);
  let begun = false;
  return {
    begin: beforeBar.begin,
    progress: (progress, wait) => {
      if (progress === null) return beforeBar.progress(progress, wait);
      const payload = { text: describeProgress(progress, wait) };
      // A bar that begins without a total would begin as full.
      if (!begun) bar.start(progress.totalBlocks, progress.doneBlocks, payload);
      begun = true;
      bar.setTotal(progress.totalBlocks);
      bar.update(progress.doneBlocks, payload);
    },
    stop: () => bar.stop(),
    end: (outcome) => output.write(describeOutcome(outcome)),
  };
}

function plainLines(output: Output): Display {
  const isDue = everyFewSeconds();
  return {
    begin: (plan) => output.write(`${describePlan(plan)}\n`),
    progress: (progress, wait) => {
      const line = progress === null ? wait && describeWait(wait) : describeProgress(progress, wait);
      if (line !== null && isDue()) output.write(`${line}\n`);
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
    progress: (progress, wait) => {
      if (progress !== null) isDue() && write('progress', { ...progress, ...(wait !== null && { waiting: wait }) });
      else if (wait !== null) isDue() && write('waiting', wait);
    },
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

/** What it waits for is of more use than the rate and the time left of a run that stands still. */
function describeProgress(progress: Progress, wait: Wait | null): string {
  const { doneBlocks, totalBlocks, events, eventsPerSec, secondsLeft } = progress;
  const blocks = `${doneBlocks}/${totalBlocks} blocks`;
  if (wait !== null) return `${describeWait(wait)} | ${blocks}`;
  const left = secondsLeft === null ? '?' : formatDuration(secondsLeft);
  return `${blocks} | ${events} events, ${eventsPerSec}/s | ${left} left`;
}

function describeWait(wait: Wait): string {
  return `waiting ${formatDuration(wait.seconds)} for ${wait.for}`;
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
