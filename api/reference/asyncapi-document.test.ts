import { Parser } from '@asyncapi/parser';
import { expect, test } from 'vitest';
import { asyncApiDocument } from './asyncapi-document.ts';

test('the document of the streams is valid, and every field in it is described', async () => {
  const document = asyncApiDocument();
  const { diagnostics } = await new Parser().parse(JSON.stringify(document));
  expect(diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version')).toEqual([]);
  expect(undescribed(document.components.schemas, '')).toEqual([]);
});

/** Properties without a description anywhere below a value, by path; the name of the message itself needs none. */
function undescribed(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {} } = value as { properties?: Record<string, { description?: string; $ref?: string }> };
  const bare = Object.entries(properties).filter(
    ([name, { description, $ref }]) => !description && !$ref && !['event', 'op'].includes(name),
  );
  return [
    ...bare.map(([name]) => `${path}.${name}`),
    ...Object.entries(value).flatMap(([key, each]) => undescribed(each, `${path}.${key}`)),
  ];
}
