import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jsonBody, stringList } from './body.ts';
import { ApiError, sendError } from './errors.ts';

const Body = z.strictObject({ pools: z.array(z.string()) });

const app = new Hono();
app.post('/', async (c) => c.json(await jsonBody(c, Body)));
app.onError((error, c) => {
  if (error instanceof ApiError) return sendError(c, error);
  throw error;
});

const fields = (count: number) => Array.from({ length: count }, (_, n) => `"field${n}":1`).join();

async function post(body: string): Promise<{ status: number; body: unknown }> {
  const response = await app.request('/', { method: 'POST', body });
  return { status: response.status, body: await response.json() };
}

test.each([
  ['', 'Unexpected end of JSON input'],
  ['{"pools":', 'Unexpected end of JSON input'],
  ['[', 'Unexpected end of JSON input'],
  ['{}', 'pools: Invalid input: expected array, received undefined'],
  ['{"pools":null}', 'pools: Invalid input: expected array, received null'],
  ['{"pools":["a",1]}', 'pools.1: Invalid input: expected string, received number'],
  ['{"pools":["a"],"pools":["b"]}', "Duplicate key 'pools' encountered at position 16"],
  ['{"pools":[{"x":1,"y":{},"x":2}]}', "Duplicate key 'x' encountered at position 25"],
  ['{"pools":[],"limit":1}', 'Unrecognized key: "limit"'],
  ['{"pools":[],"__proto__":{"pools":["x"]}}', 'Unrecognized key: "__proto__"'],
  ['{"__proto__":{"pools":[]}}', 'pools: Invalid input: expected array, received undefined'],
  ['[['.repeat(50_000), 'too many values'],
  [`${'['.repeat(6_400)}${']'.repeat(6_400)}`, 'Invalid input: expected object, received array'],
  [
    `{"pools":["${'['.repeat(5_000)}"]}{`,
    'Unexpected non-whitespace character after JSON at position 5014 (line 1 column 5015)',
  ],
  [`{"pools":[${'9'.repeat(1_000)}]}`, 'pools.0: Invalid input: expected string, received bigint'],
  [`{"pools":[${'9'.repeat(1_001)}]}`, 'a number is too long'],
  [`{"pools":[${Array(6_498).fill(1)}]}`, 'pools.0: Invalid input: expected string, received number'],
  [`{"pools":[${Array(6_499).fill(1)}]}`, 'too many values'],
  [`[${Array(110).fill('['.repeat(59) + ']'.repeat(59))}]`, 'too many values'],
  [`{"pools":[${Array(5_000).fill('"a"')},{}]}`, 'pools.5000: Invalid input: expected string, received object'],
])('%.40j is refused with the reason', async (body, reason) => {
  expect(await post(body)).toEqual({ status: 400, body: { error: `Invalid request body: ${reason}` } });
});

test('what is deep inside of a string counts for nothing', async () => {
  const pools = ['['.repeat(3_000), '9'.repeat(50_000), '\\"['.repeat(3_000), '1'];
  expect(await post(JSON.stringify({ pools }))).toEqual({ status: 200, body: { pools } });
});

test('the reason does not grow with the body', async () => {
  const key = 'x'.repeat(4_000);
  expect(await post(`{"${key}":1,"${key}":2}`)).toEqual({
    status: 400,
    body: { error: `Invalid request body: Duplicate key '${'x'.repeat(300 - 15)}...` },
  });
  expect(await post(`{"pools":[],"pools":1,"x":"${':'.repeat(100_000)}"}`)).toEqual({
    status: 400,
    body: { error: "Invalid request body: Duplicate key 'pools' encountered at position 13" },
  });
  const { status, body } = await post(`{"pools":[],${fields(999)}}`);
  expect(status).toBe(400);
  expect((body as { error: string }).error).toMatch(
    /^Invalid request body: Unrecognized keys: "field0", .{200,300}\.\.\.$/,
  );
});

test('of thousands of wrong entries of a list, one is reported', () => {
  const list = stringList(z.array(z.string()).min(1));
  expect(list.safeParse(['a', ...Array(10_000).fill(1)]).error?.issues).toMatchObject([{ path: [1] }]);
  expect(list.safeParse([]).error?.issues).toMatchObject([{ code: 'too_small' }]);
  expect(list.parse(['a', 'b'])).toEqual(['a', 'b']);
});
