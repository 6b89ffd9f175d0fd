import { expect, test } from 'vitest';
import { z } from 'zod';
import { ROUTES } from '../resources.ts';
import { openApiDocument } from './openapi-document.ts';

const Described = z.looseObject({ name: z.string(), description: z.string().min(1) });
const Example = z.looseObject({ content: z.object({ 'application/json': z.looseObject({ example: z.json() }) }) });
const Events = z.looseObject({ content: z.object({ 'text/event-stream': z.looseObject({ example: z.json() }) }) });
const Operation = z.looseObject({
  operationId: z.string(),
  tags: z.tuple([z.string()]),
  summary: z.string().min(1),
  description: z.string().regex(/\.$/),
  security: z.array(z.unknown()),
  parameters: z.array(Described.extend({ schema: z.looseObject({ example: z.json() }) })).default([]),
  requestBody: Example.optional(),
  responses: z.looseObject({ 200: z.union([Example, Events]) }),
});
const Document = z.looseObject({
  info: z.looseObject({ license: z.unknown(), contact: z.unknown() }),
  servers: z.array(z.unknown()),
  tags: z.array(Described),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({ description: z.string().min(1) })) }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

/** As clients read it: it parses when every operation, parameter and schema has what is asked of it. */
const document = Document.parse(JSON.parse(JSON.stringify(openApiDocument(ROUTES))));
const operations = Object.values(document.paths).flatMap((byMethod) => Object.values(byMethod));

/** Properties without a description anywhere below a value, by path; a reference is described where it leads. */
function undescribed(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {} } = value as { properties?: Record<string, { description?: string; $ref?: string }> };
  const bare = Object.entries(properties).filter(([, { description, $ref }]) => !description && !$ref);
  return [
    ...bare.map(([name]) => `${path}.${name}`),
    ...Object.entries(value).flatMap(([key, each]) => undescribed(each, `${path}.${key}`)),
  ];
}

test('every field of every schema is described', () => {
  expect(Object.keys(document.components.schemas).length).toBeGreaterThan(10);
  expect(undescribed(document, '')).toEqual([]);
});

test('every operation stands under a tag that is described', () => {
  const known = document.tags.map(({ name }) => name);
  expect(operations.map(({ tags }) => tags[0]).filter((tag) => !known.includes(tag))).toEqual([]);
});

test('quote updates need the key, quotes and routes take one, listings have no use for it', () => {
  const key = { tradingApiKey: [] };
  const optional = [{}, key];
  expect(Object.fromEntries(operations.map(({ operationId, security }) => [operationId, security]))).toMatchObject({
    listChains: [],
    listPools: [],
    listTokens: [],
    listPoolsAcrossChains: [],
    listTrades: [],
    getStatus: [],
    getBidAsk: optional,
    getPriceLevels: optional,
    callTakers: optional,
    getBidAskBatch: optional,
    findRoute: optional,
    listBars: optional,
    listDays: optional,
    listTrends: optional,
    listDepth: optional,
    getUdfConfig: optional,
    getUdfTime: optional,
    getUdfSymbol: optional,
    searchUdfSymbols: optional,
    listUdfBars: optional,
    openStream: optional,
    submitQuoteUpdate: [key],
  });
});

test('the document names its server, licence and contact', () => {
  expect(document.servers).toEqual([{ url: '/', description: expect.any(String) }]);
  expect(document.info.license).toMatchObject({ identifier: 'LicenseRef-UNLICENSED' });
  expect(document.info.contact).toEqual({ name: expect.stringMatching(/\w/) });
});

test('an operation with a body, and no other, may answer that it is too large', () => {
  const named = operations.filter(({ responses }) => '413' in responses).map(({ operationId }) => operationId);
  expect(named.sort()).toEqual(['callTakers', 'findRoute', 'getBidAskBatch', 'submitQuoteUpdate']);
});

test('the search says what it does with white space and control characters', () => {
  for (const { parameters } of operations.filter(({ operationId }) => operationId.startsWith('listPools'))) {
    const { description } = parameters.find(({ name }) => name === 'search') ?? {};
    expect(description).toMatch(/White space at its ends is left out; control characters are rejected\./);
  }
});
