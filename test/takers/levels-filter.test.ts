import { expect, test } from 'vitest';
import { openExampleApp } from '../examples/example-app.ts';
import { startedWorld } from '../harness/open-world.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { DECODERS, decodeBuilderFrame } from './decoders.ts';

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

test('calls take levels as the query does', async () => {
  const { address } = opened.pool;
  const call = async (method: string, params: object, headers: Record<string, string> = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [params] });
    const text = await (await opened.app.request(`/rpc/${CHAIN_A}`, { method: 'POST', headers, body })).text();
    return { text, ...(JSON.parse(text) as { result?: object; error?: { code: number; message: string } }) };
  };
  for (const [method, params, headers] of [
    ['titan_getPammPriceLevels', { pamms: [address], levels: 1 }, {}],
    ['titan_getPammPriceLevels', { levels: 1 }, { Authorization: 'good' }],
    ['pamm_getPammPriceLevels', { pamms: [address], levels: 1 }, {}],
  ] as const) {
    const { text } = await call(method, params, headers);
    const frame = text.slice(text.indexOf('"result":') + '"result":'.length, -1);
    const { pairs } = DECODERS[method === 'pamm_getPammPriceLevels' ? 'bap710' : 'builder'](frame);
    expect(pairs.map(({ levels }) => levels.length)).toEqual([1, 1]);
  }
  for (const levels of [0, 101, 1.5, '5'])
    expect((await call('pamm_getPammPriceLevels', { pamms: [address], levels })).error).toEqual({
      code: -32_602,
      message: 'levels must be an integer from 1 to 100',
    });
  expect((await call('pamm_getPammPriceLevels', { levels: 5 })).error).toEqual({
    code: -32_602,
    message: 'name pools, or send an API key',
  });
});
