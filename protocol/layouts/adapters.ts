import type { LayoutAdapter } from '../layout.ts';
import type { StoredLayout } from '../stored-layout.ts';
import { flatAdapter } from './flat/adapter.ts';
import { packedAdapter } from './packed/adapter.ts';

/** How this build reads pools, by layout; `event-layouts.ts` has the events that the index follows. */
export const LAYOUT_ADAPTERS: readonly LayoutAdapter[] = [flatAdapter, packedAdapter];

const BY_NAME = new Map(LAYOUT_ADAPTERS.map((adapter) => [adapter.layout, adapter]));

/** The adapter of a deployment's layout. Throws for a layout that this build does not know. */
export function layoutAdapter(layout: string): LayoutAdapter {
  const adapter = BY_NAME.get(layout);
  if (adapter === undefined) throw new Error(`no adapter for the event layout "${layout}"`);
  return adapter;
}

/** What capture reads from pools of a layout; undefined where their events report everything. */
export const storedLayout = (layout: string): StoredLayout | undefined => BY_NAME.get(layout)?.stored ?? undefined;
