import fc from 'fast-check';
import type { AbuseWorld } from './world.ts';

/** Attempts to leave a value and enter a statement, for each place in which one might be put. */
export const SQL_INJECTIONS = [
  "' OR '1'='1",
  "'; DROP TABLE operator.api_key; --",
  '"; DROP SCHEMA operator CASCADE; --',
  "1; DELETE FROM operator.pool_listing WHERE 't'='t",
  "') UNION SELECT key_hash::text FROM operator.api_key --",
  '1 UNION SELECT version()',
  "1'||(SELECT pg_sleep(5))||'",
  "$$; INSERT INTO operator.delisted_pool SELECT 1, '0x00'; $$",
  "\\'; TRUNCATE operator.pool_record; --",
  '%27%3B%20DROP%20TABLE%20operator.api_key%3B--',
  'tvl; UPDATE operator.api_key SET revoked_at = now() --',
  '1) OR pg_terminate_backend(pg_backend_pid()) IS NULL --',
] as const;

const TEXTS = [
  ...[
    '',
    ' ',
    '.',
    '..',
    '../../../etc/passwd',
    '..%2f..%2f',
    '%',
    '%zz',
    '%00',
    '%c0%ae',
    '%ff%fe',
    '%u0041',
    '+',
    '&&&',
    '==',
    '#',
    '?',
  ],
  ...[
    'null',
    'undefined',
    'true',
    'false',
    'TRUE',
    'True',
    'yes',
    '[]',
    '{}',
    '[object Object]',
    'NaN',
    'Infinity',
    '-Infinity',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '$where',
    '{{7*7}}',
    '<%= 7*7 %>',
    '<script>alert(1)</script>',
  ],
  ...[
    '\u0000',
    '\u202e',
    '\ufeff',
    '\ud83d\ude00',
    'ﬀ',
    '١٢٣',
    'é',
    '\ud800',
    'a\r\nSet-Cookie: x=1',
    'x'.repeat(3_000),
    '('.repeat(500),
  ],
];
const NUMBERS = [
  ...[
    '0',
    '1',
    '-1',
    '+1',
    '-0',
    '01',
    '1.0',
    '1e3',
    '1e309',
    '-1e309',
    '0x10',
    '0b1',
    '1_000',
    '1,5',
    '٣',
    ' 1',
    '1 ',
  ],
  ...[
    '2147483648',
    '9007199254740993',
    '18446744073709551615',
    '18446744073709551616',
    '9'.repeat(78),
    '9'.repeat(2_000),
  ],
];

/** What a client might put where a text, a number or an address is wanted. */
export function values(world: AbuseWorld) {
  const [pool = '0x', token = '0x'] = [world.pools[0], world.tokens[0]];
  const addresses = [
    ...[pool, token, pool.toUpperCase(), pool.slice(2), `${pool}0`, pool.slice(0, -1), `0X${pool.slice(2)}`],
    ...[`0x${'0'.repeat(40)}`, `0x${'f'.repeat(40)}`, `0x${'g'.repeat(40)}`, ` ${pool}`, `${pool}\u0000`, '0x'],
    ...[`${pool},${token}`, `${pool},`, ',', Array(600).fill('0x').join(','), Array(300).fill(pool).join(',')],
  ];
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...TEXTS, ...SQL_INJECTIONS) },
    { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
    { weight: 2, arbitrary: fc.constantFrom(...addresses) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    { weight: 1, arbitrary: fc.bigInt().map(String) },
  );
  const address = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...addresses) },
    { weight: 2, arbitrary: fc.constantFrom(...world.pools, ...world.tokens) },
    { weight: 1, arbitrary: text },
  );
  return { text, address, number: fc.constantFrom(...NUMBERS) };
}

export type Values = ReturnType<typeof values>;
