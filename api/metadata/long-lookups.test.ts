import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../runtime/http-server.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, openListing } from '../../test/metadata/listing-fixture.ts';

const KNOWN = seedAddress(0x1000);

const listing = startedWorld(openListing);
let server: RunningServer;

beforeAll(async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: KNOWN } }]);
  await listing.refresh();
  server = await startServer(listing.app, '127.0.0.1', 0);
});

afterAll(() => server.stop(0));

/** The known pool is the last of this many named ones. */
const named = (count: number) =>
  [...Array.from({ length: count - 1 }, (_, n) => seedAddress(0x2000 + n)), KNOWN].map((address) =>
    address.toUpperCase().replace('0X', '0x'),
  );

const ask = async (addresses: string) => {
  const response = await fetch(
    `http://127.0.0.1:${server.port}/public/v1/evm/${CHAIN_A}/metadata?addresses=${addresses}`,
  );
  return { status: response.status, body: await response.json() };
};

test.each([
  ['as they are', ','],
  ['as forms encode them', '%2C'],
])('500 pools can be looked up over HTTP, their commas %s', async (_how, comma) => {
  expect(await ask(named(500).join(comma))).toMatchObject({
    status: 200,
    body: { data: [{ poolAddress: KNOWN }], total: 1 },
  });
});

test.each([501, 1_000])('%i pools are too many', async (count) => {
  const error = `addresses names ${count} pools; at most 500 are allowed per request`;
  expect(await ask(named(count).join('%2C'))).toEqual({ status: 400, body: { error } });
});
