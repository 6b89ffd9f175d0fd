import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { startPolling } from './start-polling.ts';

/** Bounds the growing pauses between attempts. */
const EVERY_MS = 4_000;

type Deferred<Props> = { readonly Component?: ComponentType<Props>; readonly isFailed?: boolean };

/** Gives a component whose code is loaded when first needed, and again after a failure; none until then. */
export function useDeferred<Props>(load: () => Promise<ComponentType<Props>>, isNeeded = true): Deferred<Props> {
  const [state, setState] = useState<Deferred<Props>>({});
  useEffect(() => {
    if (!isNeeded) return undefined;
    const stop = startPolling(async () => {
      try {
        setState({ Component: await load() });
        stop();
      } catch (error) {
        setState({ isFailed: true });
        throw error;
      }
    }, EVERY_MS);
    return stop;
  }, [isNeeded]);
  return state;
}
