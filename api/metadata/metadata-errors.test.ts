import { expect, test } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { TOKEN0 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, openListing } from '../../test/metadata/listing-fixture.ts';

const listing = startedWorld(openListing);

test.each([
  [400, 'json', 'abc/metadata'],
  [400, 'json', '-1/metadata'],
  [400, 'json', '0x7a69/metadata'],
  [400, 'text', `${CHAIN_A}/metadata?count=abc`],
  [400, 'text', `${CHAIN_A}/metadata?count=`],
  [400, 'text', `${CHAIN_A}/metadata?count=%zz`],
  [400, 'text', `${CHAIN_A}/metadata?count=abc&count=3`],
  [400, 'text', `${CHAIN_A}/metadata?offset=1.5`],
  [400, 'text', `${CHAIN_A}/metadata?minTvlFiat=NaN`],
  [400, 'text', `${CHAIN_A}/metadata?minTvlFiat=1e999`],
  [400, 'text', `${CHAIN_A}/metadata?minTvlFiat=0x10`],
  [400, 'text', `${CHAIN_A}/metadata?include24h=1`],
  [400, 'text', `${CHAIN_A}/metadata?include24h`],
  [400, 'text', 'metadata?include24h=True'],
  [400, 'text', `${CHAIN_A}/metadata?lockedPricingOnly=TRUE`],
  [400, 'text', `77/metadata?depositAllowlistEnabled=yes`],
  [400, 'text', `${CHAIN_A}/metadata?blacklistedOnly=`],
  [404, 'json', '77/metadata?sortBy=unknown'],
  [400, 'json', `${CHAIN_A}/metadata?count=-1`],
  [400, 'json', `${CHAIN_A}/metadata?offset=-1`],
  [400, 'json', `${CHAIN_A}/metadata?sortBy=unknown`],
  [400, 'json', `${CHAIN_A}/metadata?sortBy=`],
  [400, 'json', `${CHAIN_A}/metadata?sortOrder=up`],
  [400, 'json', `${CHAIN_A}/metadata?sortOrder=DESC`],
  [400, 'json', `${CHAIN_A}/metadata?tier=`],
  [400, 'json', `${CHAIN_A}/metadata?tier=black`],
  [400, 'json', `${CHAIN_A}/metadata?tier=green,`],
  [400, 'json', `${CHAIN_A}/metadata?fiat=EUR`],
  [400, 'json', `${CHAIN_A}/metadata?fiat=usd`],
  [400, 'json', `${CHAIN_A}/metadata?addresses=`],
  [400, 'json', `${CHAIN_A}/metadata?addresses=0x12`],
  [400, 'json', `${CHAIN_A}/metadata?addresses=${Array(501).fill(TOKEN0).join(',')}`],
  [400, 'json', `${CHAIN_A}/metadata?addresses=${TOKEN0}&blacklistedOnly=true`],
  [404, 'json', `${CHAIN_A}/metadata?contract_version=v0`],
  [404, 'json', `${CHAIN_A}/metadata?contract_version=v9`],
  [400, 'json', 'metadata?sortBy=created'],
  [400, 'json', 'metadata?sortBy=CREATED'],
  [400, 'json', 'metadata?chainIds=-1'],
  [400, 'json', 'metadata?chainIds=1,x'],
  [400, 'json', 'metadata?chainIds='],
  [404, 'json', 'metadata?contract_version=v0'],
])('answers %i as %s to %s', async (status, kind, path) => {
  const response = await listing.app.request(`/public/v1/evm/${path}`);
  expect(response.status).toBe(status);
  const text = await response.text();
  if (kind === 'json') expect(JSON.parse(text)).toEqual({ error: expect.any(String) });
  else expect(text).toMatch(/^Failed to deserialize query string: /);
  if (path.startsWith('77/') && kind === 'json') expect(JSON.parse(text)).toEqual({ error: 'Unknown chainId: 77' });
});

test('of a repeated parameter the first counts, an unknown one is ignored, and a chain may have no pools', async () => {
  const path = `/public/v1/evm/${CHAIN_A}/metadata?sortBy=tvl&sortBy=unknown&page=x&%zz=1`;
  await listing.refresh();
  const response = await listing.app.request(path);
  expect([response.status, await response.json()]).toEqual([200, { data: [], total: 0, nextOffset: null }]);
});

test('once an index is published, a missing table is a defect: 500', async () => {
  await listing.refresh();
  await listing.pool.query('ALTER TABLE operator.pool_listing RENAME TO misplaced');
  const response = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata`);
  expect([response.status, await response.json()]).toEqual([500, { error: 'Internal server error' }]);
});
