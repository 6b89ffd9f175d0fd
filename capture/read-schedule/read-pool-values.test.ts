import { expect, test } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { readPoolValues } from './pool-values.ts';

const listing = startedWorld(openListing);
const [RICH, GIFTED] = [seedAddress(0x1000), seedAddress(0x1001)];

test('a token of which a pool paid out more than came by events takes nothing off the value of the other one', async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const dollars = (count: bigint) => count * 10n ** 18n;
  await seedPools(listing.db, [
    { pool: { chainId: CHAIN_A, address: RICH }, state: { balance0Raw: dollars(3n), balance1Raw: dollars(70n) } },
    { pool: { chainId: CHAIN_A, address: GIFTED }, state: { balance0Raw: dollars(-900n), balance1Raw: dollars(70n) } },
  ]);
  await listing.pool.query(
    `INSERT INTO operator.fiat_price SELECT $1, token, 1, 'static', now() FROM unnest($2::text[]) token`,
    [CHAIN_A, [TOKEN0, TOKEN1]],
  );
  const chain = CHAINS_FILE.chains.find(({ chainId }) => chainId === CHAIN_A);
  const pools = chain && (await readPoolValues(listing.pool, chain));
  expect(pools).toMatchObject([
    { address: RICH, valueUsd: 73, isFunded: true },
    { address: GIFTED, valueUsd: 70, isFunded: true },
  ]);
});
