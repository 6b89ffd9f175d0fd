import { useEffect, useState } from 'preact/hooks';
import { inWords } from './api.ts';

/** Pauses double after each failure in a row, up to this many times. */
const MAX_DOUBLINGS = 3;

/**
 * Runs work at once, and again `everyMs` after each end, but not while the page is hidden.
 *
 * @param work makes the next pause longer when it fails
 * @returns stops it
 */
export function startPolling(work: (signal: AbortSignal) => Promise<void>, everyMs: number): () => void {
  const stopped = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWorking = false;
  let failures = 0;
  const round = async () => {
    clearTimeout(timer);
    if (isWorking || document.hidden || stopped.signal.aborted) return;
    isWorking = true;
    failures = await work(stopped.signal).then(
      () => 0,
      () => failures + 1,
    );
    isWorking = false;
    if (!stopped.signal.aborted) timer = setTimeout(round, everyMs * 2 ** Math.min(failures, MAX_DOUBLINGS));
  };
  document.addEventListener('visibilitychange', round);
  void round();
  return () => {
    stopped.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', round);
  };
}

/** What was loaded last, and why there is nothing newer. */
export type Loaded<T> = { readonly data: T | null; readonly failure: string | null };

const NOTHING_YET = { data: null, failure: null };

/**
 * Loads data repeatedly while the component is shown.
 *
 * @param key stands for what is loaded: another key drops the old data and starts again; null loads nothing
 */
export function usePolled<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { readonly key: string | null }>({ ...NOTHING_YET, key });
  useEffect(() => {
    if (key === null) return undefined;
    return startPolling(async (signal) => {
      try {
        const data = await load(signal);
        if (!signal.aborted) setState({ data, failure: null, key });
      } catch (error) {
        if (signal.aborted) return;
        setState((last) => ({ data: last.key === key ? last.data : null, failure: inWords(error), key }));
        throw error;
      }
    }, everyMs);
    // The key stands for all that `load` depends on.
  }, [key, everyMs]);
  return state.key === key ? state : NOTHING_YET;
}
