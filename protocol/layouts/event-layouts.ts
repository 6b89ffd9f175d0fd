import type { EventLayout } from '../layout.ts';
import { flatEventLayout } from './flat/event-layout.ts';
import { packedEventLayout } from './packed/event-layout.ts';

/** The events of each layout, by the name that it has in the chains file. */
export const eventLayouts = { flat: flatEventLayout, packed: packedEventLayout } as const satisfies Record<
  string,
  EventLayout
>;

/** Names of the layouts that this build can decode: a deployment of another layout must be disabled. */
export const LAYOUT_NAMES: readonly string[] = Object.keys(eventLayouts);

const byName = new Map<string, EventLayout>(Object.entries(eventLayouts));

/** @throws Error for a layout that this build does not know */
export function eventLayout(layout: string): EventLayout {
  const found = byName.get(layout);
  if (found === undefined) throw new Error(`no events of the layout "${layout}" are known`);
  return found;
}
