import fc from 'fast-check';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { createIndexedDatabase } from '../test/harness/indexed-database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { openSeeder, seedAddress, seedPools, seedToken } from '../test/harness/seed-pools.ts';

const database = startedWorld(createIndexedDatabase);
let client: pg.Client;

beforeAll(async () => {
  client = database.client;
});

async function shown(raws: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await client.query(
    'SELECT read_model.shown_text(raw) AS text FROM unnest($1::text[]) WITH ORDINALITY AS t (raw, n) ORDER BY n',
    [raws],
  );
  return rows.map(({ text }) => text);
}

test.each([
  ['USDC', 'USDC'],
  ['USD₮0', 'USD₮0'],
  ['Wrapped liquid staked Ether 2.0', 'Wrapped liquid staked Ether 2.0'],
  ['日本円コイン', '日本円コイン'],
  [' \u00a0padded\t\r\nand \u3000 broken ', 'padded and broken'],
  ['A\u0007B\u202eC\u200bD\u2066E\ufeffF\u00adG\u{e0041}H\ue000I\u3164J', 'ABCDEFGHIJ'],
  ['\u2800US\u{1d159}\u2800DC\u{13441}', 'US DC'],
  ['U\u{13430}S\u{16fe4}D\u{1343f}C', 'USDC'],
  ['<img src=x onerror="alert(1)">', '‹img src=x onerror=”alert(1)”›'],
  ["AT&T's `stock`, new; 1", 'AT＆T’s ‘stock‘‚ new； 1'],
  ['=HYPERLINK("x")', 'HYPERLINK(”x”)'],
  ['\u200b +-@=\t=1', '1'],
  ['＝HYPERLINK(1)', 'HYPERLINK(1)'],
  ['＋1', '1'],
  ['－1', '1'],
  ['＠SUM(1)', 'SUM(1)'],
  [' ＝\u200b=＋ －＠1', '1'],
  ['＝', null],
  ['a-b+c=d@e', 'a-b+c=d@e'],
  ['a－b＋c＝d＠e', 'a－b＋c＝d＠e'],
  ['x'.repeat(65), 'x'.repeat(64)],
  [`${'😀'.repeat(63)} and more`, '😀'.repeat(63)],
  ['\u202e\u0001 \u2028', null],
  ['', null],
])('%j is shown as %j', async (raw, expected) => {
  expect(await shown([raw])).toEqual([expected]);
});

test('no text, however odd, is shown long, hidden, turned or as markup, and what is shown stays as it is', async () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 150 }),
    fc.string({
      unit: fc.constantFrom(...'<>&"\'`,;=+-@ ＝＋－＠', '\u202e', '\n', 'a', '\u{e0020}', '\u0301', '\u2800'),
      maxLength: 150,
    }),
  );
  const raws = fc.sample(
    odd.map((text) => Buffer.from(text.replaceAll('\0', '')).toString()),
    500,
  );
  const texts = await shown(raws);
  for (const text of texts.filter((each) => each !== null)) {
    expect([...text].length).toBeLessThanOrEqual(64);
    expect(text).not.toBe('');
    expect(text).not.toMatch(
      /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Co}\p{Bidi_Control}\u2800\u{1d159}<>&"'`,;]|^[\s=+@＝＋－＠-]|\s$|\s\s/u,
    );
  }
  expect(await shown(texts.map((text) => text ?? ''))).toEqual(texts);
});

test('tokens and pools show it, and no decimals that cannot be', async () => {
  const seeder = openSeeder(database.url);
  const [hostile, huge, pool] = [seedAddress(1), seedAddress(2), seedAddress(3)];
  await seedToken(seeder.db, { chainId: 1, address: hostile, symbol: '\u202e<b>', name: '=1+1', decimals: 36 });
  await seedToken(seeder.db, { chainId: 1, address: huge, symbol: '\u200b', decimals: 37 });
  await seedPools(seeder.db, [{ pool: { chainId: 1, address: pool, token0: hostile, token1: huge } }]);
  await seeder.end();
  const tokens = await client.query('SELECT symbol, name, decimals FROM read_model.token ORDER BY address');
  expect(tokens.rows).toEqual([
    { symbol: '‹b›', name: '1+1', decimals: 36 },
    { symbol: null, name: 'Token', decimals: null },
  ]);
  const pools = await client.query(
    'SELECT pair, token0_symbol, token1_symbol, token0_decimals, token1_decimals FROM read_model.pool',
  );
  expect(pools.rows).toEqual([
    { pair: `‹b›/${huge}`, token0_symbol: '‹b›', token1_symbol: null, token0_decimals: 36, token1_decimals: null },
  ]);
  const raw = await client.query('SELECT symbol, decimals FROM live.token ORDER BY address');
  expect(raw.rows).toEqual([
    { symbol: '\u202e<b>', decimals: 36 },
    { symbol: '\u200b', decimals: 37 },
  ]);
});
