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

/** A body of which so many objects and arrays are inside of each other. */
function nested(depth: number): string {
  return `{"pools":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

async function post(body: string): Promise<{ status: number; body: unknown }> {
  const response = await app.request('/', { method: 'POST', body });
  return { status: response.status, body: await response.json() };
}

test.each([
  ['', 'the body is empty'],
  ['{"pools":', 'not JSON'],
  ['[', 'not JSON'],
  ['{}', 'pools is required'],
  ['{"pools":null}', 'pools must be an array'],
  ['{"pools":["a",1]}', 'pools[1] must be a string'],
  ['{"pools":["a"],"pools":["b"]}', 'duplicate key "pools"'],
  ['{"pools":["a"],"pools":["a"]}', 'duplicate key "pools"'],
  ['{"pools":[{"x":1,"y":{},"x":1}]}', 'duplicate key "x"'],
  ['{"pools":[],"limit":1}', 'Unrecognized key: "limit"'],
  ['{"pools":[],"__proto__":{"pools":["x"]}}', 'Unrecognized key: "__proto__"'],
  ['{"__proto__":{"pools":[]}}', 'pools is required'],
  ['[['.repeat(50_000), 'not JSON'],
  [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'not JSON'],
  [nested(32), 'pools[0] must be a string'],
  [nested(33), 'not JSON'],
  [`{"pools":["${'['.repeat(50_000)}"]}{`, 'not JSON'],
  [`{"pools":[${'9'.repeat(100)}]}`, 'pools[0] must be a string'],
  [`{"pools":[${'9'.repeat(101)}]}`, 'not JSON'],
  [`{"pools":[0.${'1'.repeat(101)}]}`, 'not JSON'],
  [`{"pools":[${Array(6_000).fill(1)}]}`, 'pools[0] must be a string'],
  [`{"pools":[${Array(7_000).fill(1)}]}`, 'not JSON'],
  [`{"pools":[{${fields(1_000)}}]}`, 'not JSON'],
  [`{"pools":${' '.repeat(20_000)}null}`, 'pools must be an array'],
  [`{"pools":${' '.repeat(20_001)}[]}`, 'not JSON'],
  [`{"pools":["${'\\\\n'.repeat(20_001)}"]}`, 'not JSON'],
  [`{"pools":[${Array(5_000).fill('"a"')},{}]}`, 'pools[5000] must be a string'],
])('%.40j is refused with the reason', async (body, reason) => {
  expect(await post(body)).toEqual({ status: 400, body: { error: `Invalid request body: ${reason}` } });
});

test('what is deep inside of a string counts for nothing', async () => {
  const pools = ['['.repeat(50_000), '9'.repeat(50_000), '\\"['.repeat(5_000), '1'];
  expect(await post(JSON.stringify({ pools }))).toEqual({ status: 200, body: { pools } });
});

test('the reason does not grow with the body', async () => {
  const key = 'x'.repeat(100_000);
  expect(await post(`{"${key}":1,"${key}":1}`)).toEqual({
    status: 400,
    body: { error: `Invalid request body: duplicate key "${'x'.repeat(300 - 15)}...` },
  });
  const { status, body } = await post(`{"pools":[],${fields(999)}}`);
  expect(status).toBe(400);
  expect((body as { error: string }).error).toMatch(
    /^Invalid request body: Unrecognized keys: "field0", .{200,300}\.\.\.$/,
  );
});

test('of thousands of wrong entries of a list one is told', () => {
  const list = stringList(z.array(z.string()).min(1));
  expect(list.safeParse(['a', ...Array(10_000).fill(1)]).error?.issues).toMatchObject([{ path: [1] }]);
  expect(list.safeParse([]).error?.issues).toMatchObject([{ code: 'too_small' }]);
  expect(list.parse(['a', 'b'])).toEqual(['a', 'b']);
});
