import { EXIT_RETRY } from '../../config/app-error.ts';
import { pause } from '../../runtime/pause.ts';
import { exitText } from '../services/guarded-process.ts';
import { reasonOfEnd, ServiceError } from '../services/service-error.ts';
import type { Part } from './supervisor.ts';

/** A part that ends by itself, now or later. */
type Running = Part & { readonly ended: Promise<string> };

/**
 * Pause before a part that ended is started again, milliseconds; null when its end is the end of all.
 *
 * @param how such as `exit code 1`
 * @param ends how often it has ended in a row, each time soon after its start
 */
export type RestartRule = (how: string, ends: number) => number | null;

/** How a process says that it wants to be started again. */
export const START_AGAIN = exitText(EXIT_RETRY);

/** Starts again what asks for it. */
export const whenAsked: RestartRule = (how) => (how === START_AGAIN ? 0 : null);

const MAX_PAUSE_MS = 30_000;

/** Starts everything again: at once where that was asked for, else after pauses that double from a second on. */
export const always: RestartRule = (how, ends) =>
  how === START_AGAIN && ends === 1 ? 0 : Math.min(MAX_PAUSE_MS, 1_000 * 2 ** (ends - 1));

/** A part that ran for this long had come up. */
const SOUND_MS = 60_000;

export interface KeepOptions {
  readonly rule: RestartRule;
  /** Called when a part ended and will be started again after the pause. */
  readonly onEnd?: (how: string, pauseMs: number) => void;
}

/**
 * Keeps a part running, as a supervisor in production does: what ends is started again by the rule. The part that this
 * returns ends when the rule gives up.
 *
 * @param start its signal gives up a start that is under way
 * @throws what the first start throws
 */
export async function keepRunning<T extends Running>(
  start: (signal: AbortSignal) => Promise<T>,
  options: KeepOptions,
): Promise<T> {
  const { rule, onEnd } = options;
  const stopping = new AbortController();
  let current = await start(stopping.signal);
  const watch = async (): Promise<string> => {
    for (let ends = 1, startedAt = performance.now(); ; ends += 1) {
      const how = await current.ended;
      if (stopping.signal.aborted) return how;
      if (performance.now() - startedAt > SOUND_MS) ends = 1;
      const pauseMs = rule(how, ends);
      if (pauseMs === null) return how;
      onEnd?.(`${how}${reasonOfEnd(current.recentOutput?.() ?? '')}`, pauseMs);
      await pause(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return how;
      startedAt = performance.now();
      current = await start(stopping.signal).catch((error: unknown) => failedStart(current, error));
      if (stopping.signal.aborted) await current.stop();
    }
  };
  const ended = watch();
  return {
    ...current,
    ended,
    recentOutput: () => current.recentOutput?.() ?? '',
    stop: async () => {
      stopping.abort();
      await current.stop();
      await ended;
    },
  };
}

/** A part whose start failed counts as ended. */
function failedStart<T extends Running>(part: T, error: unknown): T {
  const output = error instanceof ServiceError ? error.log : '';
  return { ...part, ended: Promise.resolve((error as Error).message), recentOutput: () => output };
}
