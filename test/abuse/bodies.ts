import fc from 'fast-check';
import type { Values } from './values.ts';

/** A JSON value of a kind that the field it stands in may not expect. */
const misfit = (values: Values) =>
  fc.oneof(
    { weight: 3, arbitrary: values.text },
    { weight: 2, arbitrary: values.address },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, [], {}),
    },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.array(values.address, { maxLength: 4 }) },
  );

/** Bodies of one endpoint as its clients mean them; each request changes some fields. */
function templates({ address }: Values) {
  const amount = fc.constantFrom('1', '1000000', '10000000000000000000', '0', '-5');
  const uuid = fc.constantFrom(`0x${'ab'.repeat(16)}`, 'ab'.repeat(16), '0x');
  return {
    batch: fc.record({ pools: fc.array(address, { maxLength: 5 }), depth: fc.boolean() }),
    route: fc.record({ tokenIn: address, tokenOut: address, amountIn: amount, maxRoutes: fc.integer() }),
    pamm: fc.record({
      tx: fc.constantFrom('0x', '0x02', `0x02${'ff'.repeat(60)}`, 'zz'),
      blockNumber: fc.integer(),
      replacementUuid: uuid,
      replacementSeqNumber: fc.integer(),
      responseTimeoutMs: fc.constant(0),
      maxTimestamp: fc.integer(),
      poolAddresses: fc.array(address, { maxLength: 3 }),
    }),
  };
}

export type BodyKind = keyof ReturnType<typeof templates>;

const EXTRA_FIELDS = ['__proto__', 'constructor', 'toString', 'then', 'amountOut', 'tradeType', 'poolAddress', 'x', ''];

/** Bodies for an endpoint: nearly right ones, JSON of another shape, and what is no JSON at all. */
export function bodies(kind: BodyKind, values: Values): fc.Arbitrary<Buffer> {
  const template = templates(values)[kind] as fc.Arbitrary<Record<string, unknown>>;
  const other = misfit(values);
  const changed = fc
    .tuple(
      template,
      fc.array(fc.tuple(fc.nat(12), other), { maxLength: 3 }),
      fc.option(fc.constantFrom(...EXTRA_FIELDS)),
    )
    .map(([body, changes, extra]) => jsonWith(body, changes, extra));
  const json = fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: changed.chain((text) => fc.nat(text.length).map((end) => text.slice(0, end))) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  );
  return fc.oneof(
    { weight: 12, arbitrary: json.map((text) => Buffer.from(text, 'utf8')) },
    { weight: 1, arbitrary: json.map((text) => Buffer.from(`\ufeff${text}`, 'utf16le')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(...LARGE).map((text) => Buffer.from(text, 'latin1')) },
  );
}

/** Written by hand, since an object literal would take `__proto__` for its prototype. */
function jsonWith(body: Record<string, unknown>, changes: readonly [number, unknown][], extra: string | null): string {
  const fields = Object.entries(body);
  for (const [index, value] of changes) {
    const at = index % (fields.length + 1);
    if (index > 6) fields.splice(at, 1);
    else if (fields[at]) fields[at] = [fields[at][0], value];
  }
  if (extra !== null) fields.push([extra, { isAdmin: true, pools: [], tx: '0x' }]);
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`;
}

const ODD_TEXTS = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '""',
  '[]',
  '{}',
  '[[]]',
  '{"a":1,}',
  "{'a':1}",
  '{"a":01}',
  'NaN',
  '{"pools":undefined}',
  '{"pools":[],"pools":["0x"]}',
  '{"a":"\\u12"}',
  '{"a":"\\ud800"}',
  '{"a":"\u0001"}',
  '{"\\u0000":1}',
  '{}{}',
  '//',
  '{"a":1e999}',
];

/** Deep, long and wide, within what the API accepts to read. */
const LARGE = [
  '['.repeat(100_000),
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  `{"pools":[${Array(4_000).fill('"0x"').join(',')}]}`,
  `{"blockNumber":${'9'.repeat(100_000)}}`,
  `{"tx":"0x${'f'.repeat(200_000)}","blockNumber":1,"replacementUuid":"${'0'.repeat(32)}","replacementSeqNumber":1}`,
  `{${Array.from({ length: 5_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`,
  `{"amountIn":"${'9'.repeat(200_000)}"}`,
];
