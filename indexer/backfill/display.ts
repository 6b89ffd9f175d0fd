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
  /** @param progress null before there is any, @param wait null while it continues */
  progress(progress: Progress | null, wait: Wait | null): void;
  /** Removes a progress bar before anything else is written. */
  stop(): void;
  end(outcome: BackfillOutcome): void;
}

/** A bar on a terminal is redrawn with every call; lines come less often. */
const LINE_EVERY_MS = 5_000;
const BAR = {
  format: '{bar} {percentage}% | {value}/{total} blocks, {eta_formatted} left | {text}',
  /** Short enough for what follows on a terminal of 80 columns, which cuts the rest. */
  barsize: 10,
  /** Updates whose mean the time left is: half a minute. */
  etaBuffer: 60,
  noTTYOutput: true,
  notTTYSchedule: LINE_EVERY_MS,
  hideCursor: true,
  clearOnComplete: true,
};

/** @param json one JSON object per line, for programs; otherwise text, with a bar on a terminal */
export function createDisplay(output: NodeJS.WriteStream, json: boolean): Display {
  let shownMs = Number.NEGATIVE_INFINITY;
  const isDue = (): boolean => {
    if (performance.now() - shownMs < LINE_EVERY_MS) return false;
    shownMs = performance.now();
    return true;
  };
  return json ? jsonLines(output, isDue) : textLines(output, isDue);
}

function jsonLines(output: NodeJS.WriteStream, isDue: () => boolean): Display {
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

function textLines(output: NodeJS.WriteStream, isDue: () => boolean): Display {
  const bar = new SingleBar({ ...BAR, stream: output }, Presets.shades_classic);
  return {
    begin: (plan) => output.write(`${describePlan(plan)}\n`),
    progress: (progress, wait) => {
      if (progress !== null) {
        const payload = { text: wait === null ? `${progress.events} events` : describeWait(wait) };
        // A bar that begins without a total would begin as full.
        if (!bar.isActive) bar.start(progress.totalBlocks, progress.doneBlocks, payload);
        bar.setTotal(progress.totalBlocks);
        bar.update(progress.doneBlocks, payload);
      } else if (wait !== null && isDue()) output.write(`${describeWait(wait)}\n`);
    },
    stop: () => bar.stop(),
    end: (outcome) => output.write(describeOutcome(outcome)),
  };
}

const describeWait = (wait: Wait): string => `waiting ${wait.seconds} s for ${wait.for}`;

function describePlan({ schema, replaces, refetched, resumed }: BackfillPlan): string {
  const logs = refetched.length > 0 ? `, logs of chain ${refetched.join(', ')} from the nodes` : '';
  const served = replaces === null ? 'nothing serves yet' : `"${replaces}" serves meanwhile`;
  return `${resumed ? 'Resuming' : 'Filling'} "${schema}" (${served}${logs})`;
}

function describeOutcome({ schema, replaces, blocks, events, seconds, removable }: BackfillOutcome): string {
  const lines = [`Readers are served from "${schema}": ${blocks} blocks, ${events} events, ${seconds} s.`];
  if (replaces !== null) {
    lines.push(`An indexer that wrote "${replaces}" ends with exit code 75; started again, it continues here.`);
  }
  if (removable.length > 0) lines.push(`No longer needed: npm run backfill -- drop ${removable.join(' ')}`);
  return lines.map((line) => `${line}\n`).join('');
}
