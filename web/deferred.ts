import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { startPolling } from './start-polling.ts';

/** Bounds the growing pauses between attempts. */
const EVERY_MS = 4_000;
const FAILURE =
  'This part of the page could not be loaded. Trying again; after an update of the service, reload the page.';

type Deferred<Props> = { readonly Component: ComponentType<Props> | null; readonly failure: string | null };

/** Gives a component whose code is loaded when first needed: null until then, with the reason when that fails. */
export function useDeferred<Props>(load: () => Promise<ComponentType<Props>>, isNeeded = true): Deferred<Props> {
  const [state, setState] = useState<Deferred<Props>>({ Component: null, failure: null });
  useEffect(() => {
    if (!isNeeded) return undefined;
    const stop = startPolling(async () => {
      try {
        setState({ Component: await load(), failure: null });
        stop();
      } catch (error) {
        setState({ Component: null, failure: FAILURE });
        throw error;
      }
    }, EVERY_MS);
    return stop;
  }, [isNeeded]);
  return state;
}
