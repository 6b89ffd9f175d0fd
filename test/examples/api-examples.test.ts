import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ApiRoute } from '../../api/declaration/api-route.ts';
import { EXAMPLE } from '../../api/declaration/example-market.ts';
import { openApiDocument } from '../../api/reference/openapi-document.ts';
import { ROUTES } from '../../api/resources.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { FACTORY } from '../harness/seed-pools.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { openExampleApp } from './example-app.ts';

/** What of an operation its examples are in. */
const Operation = z.object({
  parameters: z
    .array(z.object({ name: z.string(), in: z.enum(['path', 'query']), schema: z.object({ example: z.json() }) }))
    .default([]),
  requestBody: z.object({ content: z.object({ 'application/json': z.object({ example: z.json() }) }) }).optional(),
});
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

const { paths } = Document.parse(openApiDocument(ROUTES));
const operationOf = ({ path, method }: ApiRoute) => Operation.parse(paths[path]?.[method]);

const opened = startedWorld(openExampleApp);

/** The chain, pool and tokens of the examples are not there: one of the test's own stands in for each. */
function replacement(text: string): string {
  const { pool } = opened;
  return [
    [String(EXAMPLE.chainId), String(CHAIN_A)],
    [EXAMPLE.pool, pool.address],
    [EXAMPLE.factory, FACTORY],
    [EXAMPLE.weth, pool.token0.address],
    [EXAMPLE.usdc, pool.token1.address],
  ].reduce((changed, [example = '', own = '']) => changed.replaceAll(example, own), text);
}

/** Sends the examples of an operation. */
async function send(route: ApiRoute) {
  const { parameters, requestBody } = operationOf(route);
  const textsOf = (place: 'path' | 'query') =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name, schema }) => [name, String(schema.example)] as [string, string]);
  const path = textsOf('path').reduce(
    (filled, [name, text]) => filled.replace(`{${name}}`, text),
    route.path as string,
  );
  const query = new URLSearchParams(textsOf('query'));
  const body = requestBody && replacement(JSON.stringify(requestBody.content['application/json'].example));
  const response = await opened.app.request(replacement(`${path}?${query}`), {
    method: route.method.toUpperCase(),
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(route.key === 'required' && { Authorization: 'Bearer good' }),
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
}

const [streams, others] = [true, false].map((streams) =>
  ROUTES.filter((route) => (route.streams ?? false) === streams),
);

test.each(streams ?? [])('the example of a message of $operationId is as documented', ({ answer }) => {
  answer.schema.parse(answer.example);
});

test.each((others ?? []).map((route) => [route.operationId, route] as const))(
  'the examples of %s are answered, and the answer and its example are as documented',
  async (_id, route) => {
    const { status, text } = await send(route);
    expect([status, text]).toEqual([200, expect.any(String)]);
    route.answer.schema.parse(parseJson(text));
    route.answer.schema.parse(parseJson(stringifyJson(route.answer.example)));
  },
);
