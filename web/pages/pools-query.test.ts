import { expect, test } from 'vitest';
import { hrefOf, listingPath, listingQuery, viewOf } from './pools-query.ts';

const of = (query: string) => viewOf(new URLSearchParams(query));

test.each([
  '/',
  '/?chain=31337',
  '/?chain=1&search=w%2Fe&sort=created&order=asc&tier=green%2Cred&locked=1&allowlisted=1&small=1&offset=50',
])('the address %s is that of its view', (href) => {
  expect(hrefOf(viewOf(new URL(href, 'http://x').searchParams))).toBe(href);
});

test('what makes no sense in an address counts as not there', () => {
  const view = of('chain=x&sort=price&order=up&tier=blue,green&offset=-5&locked=yes');
  expect(hrefOf(view)).toBe('/?tier=green');
  expect(of('sort=created').sort).toBe('tiered');
});

test('a search looks at pools of any size, a text too short does not search', () => {
  expect(listingQuery(of('search=we'))).toMatchObject({ search: 'we', minTvlFiat: 0 });
  expect(listingQuery(of('search=w'))).not.toHaveProperty('search');
  expect(listingQuery(of('search=w'))).not.toHaveProperty('minTvlFiat');
  expect(listingQuery(of('small=1'))).toMatchObject({ minTvlFiat: 0 });
});

test('the path is the request of the view', () => {
  expect(listingPath(of('chain=1&tier=green'))).toBe(
    '/public/v1/evm/1/metadata?count=25&offset=0&sortBy=tiered&sortOrder=desc&include24h=true&tier=green',
  );
  expect(listingPath(of(''))).toMatch(/^\/public\/v1\/evm\/metadata\?/);
});
