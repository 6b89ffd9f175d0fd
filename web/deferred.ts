import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A component whose code is loaded when it is first needed; null until then, and when it cannot be loaded. */
export function useDeferred<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> | null {
  const [Loaded, show] = useState<ComponentType<Props> | null>(null);
  useEffect(() => {
    load().then(
      (component) => show(() => component),
      () => undefined,
    );
  }, []);
  return Loaded;
}
