import type { StoredLayout } from '../stored-layout.ts';
import { packedStoredLayout } from './packed/stored-layout.ts';

const STORED_LAYOUTS: ReadonlyMap<string, StoredLayout> = new Map([['packed', packedStoredLayout]]);

/** What capture reads of pools of a layout; undefined for one whose events tell all. */
export function storedLayout(layout: string): StoredLayout | undefined {
  return STORED_LAYOUTS.get(layout);
}
