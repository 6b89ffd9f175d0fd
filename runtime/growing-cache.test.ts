import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';
import { growingTo } from './growing-cache.ts';

test('a cache that grows keeps as many entries as it may: those that were used last', () => {
  const cache = new LRUCache<string, number>(growingTo(3));
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index);
  cache.get('a');
  cache.set('c', 3).set('d', 4);
  expect([...cache.keys()].toSorted()).toEqual(['a', 'c', 'd']);
});
