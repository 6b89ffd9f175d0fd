import { signal } from '@preact/signals';
import { keep, kept } from './kept.ts';

const KEY = 'favourites';

function stored(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(kept(KEY) ?? '[]');
    return new Set(Array.isArray(list) ? list.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Pools that the reader has marked, by `keyOf`. They are kept by the browser alone. */
export const favourites = signal(stored());

// Another tab has marked some: without these, the next mark of this tab would undo them. A null key: all was removed.
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) favourites.value = stored();
});

export function toggleFavourite(key: string): void {
  const marked = new Set(favourites.value);
  if (!marked.delete(key)) marked.add(key);
  favourites.value = marked;
  keep(KEY, JSON.stringify([...marked]));
}
