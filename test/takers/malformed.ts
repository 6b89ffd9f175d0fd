import type { Random } from '../../devnet/traffic/random.ts';

const GOOD = [
  '{"jsonrpc":"2.0","id":1,"method":"pamm_getPammPriceLevels","params":[{"pamms":["0x00000000000000000000000000000000000000aa"]}]}',
  '{"jsonrpc":"2.0","id":"a","method":"pamm_getPammStateOverrides","params":[]}',
  '[{"jsonrpc":"2.0","id":1,"method":"pamm_status"},{"jsonrpc":"2.0","method":"pamm_status"}]',
  '{"jsonrpc":"2.0","id":1,"method":"pamm_subscribe","params":["subscribePriceLevelsV1",{"pamms":[]}]}',
];
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  'null',
  '1e999',
  '-',
  '\\u0000',
  '__proto__',
  '\ud800',
  '[]',
  '{}',
  ' ',
  '9'.repeat(400),
];

/** A message that is, as a rule, no call: broken calls, other values, too many or too deep ones. */
export function malformedMessage(random: Random): string {
  const good = random.pick(GOOD);
  const at = random.integer(0, good.length - 1);
  const kinds: readonly (() => string)[] = [
    () => good.slice(0, at),
    () => good.slice(at),
    () => good.slice(0, at) + random.pick(PIECES) + good.slice(at + random.integer(0, 9)),
    () => good.slice(0, at) + good.slice(random.integer(0, good.length - 1)),
    () => '['.repeat(random.integer(1, 20_000)),
    () => `[${Array.from({ length: random.integer(1, 2_000) }, () => random.pick(PIECES)).join()}]`,
    () => `[${Array.from({ length: random.integer(1, 40) }, () => good).join()}]`,
    () =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: random.pick([{}, [], true, 1.5, 'x'.repeat(5_000)]),
        method: 'pamm_status',
      }),
    () =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: random.pick([1, null, {}, 'x'.repeat(20_000), 'eth_call', '__proto__']),
      }),
    () => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'pamm_getPammPriceLevels', params: random.pick(PARAMS) }),
    () => String.fromCharCode(...Array.from({ length: random.integer(0, 60) }, () => random.integer(0, 65_535))),
  ];
  return random.pick(kinds)();
}

const PARAMS = [
  null,
  7,
  {},
  'x',
  [null],
  [[]],
  [{ pamms: {} }],
  [{ pamms: [1] }],
  [{ pamms: ['0x'] }],
  [{ pamms: Array(600).fill(`0x${'11'.repeat(20)}`) }],
  [{}, {}],
];
