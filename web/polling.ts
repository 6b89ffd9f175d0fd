import { useEffect, useState } from 'preact/hooks';
import { inWords } from './api.ts';
import { startPolling } from './start-polling.ts';

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
