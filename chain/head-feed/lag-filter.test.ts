import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { LagFilter } from './head-feed.ts';

const [fast, slow] = [{}, {}];

test.each([
  [
    'each block once',
    [
      [fast, 'a1'],
      [slow, 'a1'],
      [slow, 'a2'],
      [fast, 'a2'],
    ],
    ['a1', 'a2'],
  ],
  [
    'no block that a slow source reports late',
    [
      [fast, 'a1'],
      [fast, 'a3'],
      [slow, 'a2'],
      [slow, 'a3'],
      [slow, 'a4'],
    ],
    ['a1', 'a3', 'a4'],
  ],
  [
    'a reorganisation of the source',
    [
      [fast, 'a1'],
      [fast, 'a2'],
      [fast, 'b1'],
      [slow, 'a2'],
      [fast, 'b2'],
    ],
    ['a1', 'a2', 'b1', 'b2'],
  ],
  [
    'of two blocks of one height the first',
    [
      [fast, 'a1'],
      [slow, 'b1'],
      [slow, 'b2'],
    ],
    ['a1', 'b2'],
  ],
] as const)('news are: %s', (_name, pushed, news) => {
  const filter = new LagFilter();
  const isNews = pushed.filter(([source, name]) => {
    return filter.isNews(source, { number: BigInt(name.slice(1)), hash: name as Hex, timestamp: 0n });
  });
  expect(isNews.map(([, name]) => name)).toEqual(news);
});
