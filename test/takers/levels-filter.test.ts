import { expect, test } from 'vitest';
import { openExampleApp } from '../examples/example-app.ts';
import { startedWorld } from '../harness/open-world.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { decodeBuilderFrame } from './decoders.ts';

const opened = startedWorld(openExampleApp);

/** The venues of a frame. The one pool is green and holds 24,000 USD. */
async function venuesOf(query: string, headers: Record<string, string> = {}): Promise<ReadonlySet<string>> {
  const url = `/public/v1/evm/${CHAIN_A}/price_levels?${query}`;
  const text = await (await opened.app.request(url, { headers })).text();
  return new Set(decodeBuilderFrame(text).pairs.map(({ pamm }) => pamm));
}

test('without a key and a choice the listed pools above the default floor are shown', async () => {
  expect(await venuesOf('')).toEqual(new Set([opened.pool.address]));
});

test('tiers and TVL are those of the listing, with named pools and without', async () => {
  const { address } = opened.pool;
  const [all, none] = [new Set([address]), new Set()];
  for (const [filter, expected] of [
    ['', all],
    ['&tier=green,yellow', all],
    ['&tier=red', none],
    ['&minTvlFiat=1000', all],
    ['&minTvlFiat=1e9', none],
    ['&tier=green&minTvlFiat=1e9', none],
  ] as const) {
    expect(await venuesOf(`pools=${address}${filter}`), filter).toEqual(expected);
    expect(await venuesOf(filter.slice(1), { Authorization: 'Bearer good' }), filter).toEqual(expected);
  }
});
