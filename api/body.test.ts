import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jsonBody } from './body.ts';
import { ApiError, sendError } from './errors.ts';

const Body = z.strictObject({ pools: z.array(z.string()) });

const app = new Hono();
app.post('/', async (c) => c.json(await jsonBody(c, Body)));
app.onError((error, c) => {
  if (error instanceof ApiError) return sendError(c, error);
  throw error;
});

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
  [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'the body must be an object'],
])('%.40j is refused with the reason', async (body, reason) => {
  expect(await post(body)).toEqual({ status: 400, body: { error: `Invalid request body: ${reason}` } });
});

test('the reason does not grow with the body', async () => {
  const key = 'x'.repeat(100_000);
  expect(await post(`{"${key}":1,"${key}":1}`)).toEqual({
    status: 400,
    body: { error: `Invalid request body: duplicate key "${'x'.repeat(300 - 15)}...` },
  });
  const fields = Array.from({ length: 10_000 }, (_, n) => `"field${n}":1`);
  const { status, body } = await post(`{"pools":[],${fields.join(',')}}`);
  expect(status).toBe(400);
  expect((body as { error: string }).error).toMatch(
    /^Invalid request body: Unrecognized keys: "field0", .{200,300}\.\.\.$/,
  );
});
