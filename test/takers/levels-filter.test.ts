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

test('levels bounds those of a pair; it takes pools or a key', async () => {
  const ask = (query: string, headers: Record<string, string> = {}) =>
    opened.app.request(`/public/v1/evm/${CHAIN_A}/price_levels?${query}`, { headers });
  const named = `pools=${opened.pool.address}`;
  const all = decodeBuilderFrame(await (await ask(named)).text()).pairs;
  for (const [levels, headers] of [
    [1, {}],
    [2, { Authorization: 'Bearer good' }],
  ] as const) {
    const { pairs } = decodeBuilderFrame(
      await (await ask(`levels=${levels}${levels === 1 ? `&${named}` : ''}`, headers)).text(),
    );
    expect(pairs.map(({ levels: shown }) => shown.length)).toEqual(
      all.map(({ levels: shown }) => Math.min(levels, shown.length)),
    );
    expect(pairs.map(({ levels: shown }) => shown.at(-1))).toEqual(all.map(({ levels: shown }) => shown.at(-1)));
  }
  for (const levels of ['', '0', '101', '-1', '1.5', '1e1', 'all'])
    expect([levels, (await ask(`${named}&levels=${levels}`)).status]).toEqual([levels, 400]);
  expect((await ask('levels=5')).status).toBe(401);
});
