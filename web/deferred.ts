import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Gives a component whose code is loaded when first needed; null until it is loaded, and when that fails. */
export function useDeferred<Props>(
  load: () => Promise<ComponentType<Props>>,
  isNeeded = true,
): ComponentType<Props> | null {
  const [Loaded, show] = useState<ComponentType<Props> | null>(null);
  useEffect(() => {
    if (!isNeeded) return;
    load().then(
      (component) => show(() => component),
      () => undefined,
    );
  }, [isNeeded]);
  return Loaded;
}
