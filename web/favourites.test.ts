import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('two tabs keep the favourites of both', async () => {
  const held = new Map<string, string>();
  const told: ((event: { key: string | null }) => void)[] = [];
  const setItem = (key: string, text: string) => held.set(key, text);
  vi.stubGlobal('localStorage', { getItem: (key: string) => held.get(key) ?? null, setItem });
  vi.stubGlobal('addEventListener', (_: 'storage', listener: (typeof told)[number]) => told.push(listener));
  const { favourites, toggleFavourite } = await import('./favourites.ts');
  toggleFavourite('devnet-a:0x1');

  held.set('favourites', '["devnet-a:0x1","devnet-a:0x2"]');
  for (const tell of told) tell({ key: 'favourites' });
  toggleFavourite('devnet-a:0x3');
  expect(held.get('favourites')).toBe('["devnet-a:0x1","devnet-a:0x2","devnet-a:0x3"]');

  held.clear();
  for (const tell of told) tell({ key: null });
  expect([...favourites.value]).toEqual([]);
});
