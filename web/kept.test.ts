import { afterEach, expect, test, vi } from 'vitest';
import { keep, kept } from './kept.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a browser that keeps nothing does not stop the page', () => {
  const forbid = () => {
    throw new DOMException('The request was denied.', 'SecurityError');
  };
  for (const storage of [{ getItem: forbid, setItem: forbid }, null]) {
    vi.stubGlobal('localStorage', storage);
    keep('keys-off', '1');
    expect(kept('keys-off')).toBeNull();
  }
});

test('what is kept is found again', () => {
  const held = new Map<string, string>();
  const getItem = (key: string) => held.get(key) ?? null;
  vi.stubGlobal('localStorage', { getItem, setItem: (key: string, text: string) => held.set(key, text) });
  keep('keys-off', '1');
  expect([kept('keys-off'), kept('favourites')]).toEqual(['1', null]);
});
