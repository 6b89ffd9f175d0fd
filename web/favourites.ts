import { signal } from '@preact/signals';

const KEY = 'favourites';

function stored(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return new Set(Array.isArray(list) ? list.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Pools that the reader has marked, by `keyOf`. They are kept by the browser alone. */
export const favourites = signal(stored());

export function toggleFavourite(key: string): void {
  const marked = new Set(favourites.value);
  if (!marked.delete(key)) marked.add(key);
  favourites.value = marked;
  localStorage.setItem(KEY, JSON.stringify([...marked]));
}
