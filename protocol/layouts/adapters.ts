import type { LayoutAdapter } from '../layout.ts';
import { flatAdapter } from './flat/adapter.ts';
import { packedAdapter } from './packed/adapter.ts';

const ADAPTERS = new Map<string, LayoutAdapter>(
  [flatAdapter, packedAdapter].map((adapter) => [adapter.layout, adapter]),
);

/** The adapter of a deployment's layout. Throws for a layout that this build does not know. */
export function layoutAdapter(layout: string): LayoutAdapter {
  const adapter = ADAPTERS.get(layout);
  if (adapter === undefined) throw new Error(`no adapter for the event layout "${layout}"`);
  return adapter;
}
