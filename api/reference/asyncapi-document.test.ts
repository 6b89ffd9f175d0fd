import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { asyncApiDocument } from './asyncapi-document.ts';

test('the document of the streams is valid, and every field in it is described', () => {
  const document = asyncApiDocument();
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  const isValid = ajv.compile(specs.schemasWithoutId['3.0.0'] as object);
  isValid(JSON.parse(JSON.stringify(document)));
  expect(isValid.errors).toBeNull();
  expect(unresolved(document, document)).toEqual([]);
  for (const schema of Object.values(document.components.schemas ?? {})) {
    expect(() => ajv.compile({ ...schema, components: document.components })).not.toThrow();
  }
  expect(undescribed(document.components.schemas, '')).toEqual([]);
});

/** References that lead nowhere. */
function unresolved(value: unknown, document: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = value as { $ref?: string };
  const target = $ref
    ?.slice('#/'.length)
    .split('/')
    .reduce<unknown>(
      (found, key) => (found as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/')],
      document,
    );
  const isMissing = $ref !== undefined && target === undefined;
  return [...(isMissing ? [$ref] : []), ...Object.values(value).flatMap((each) => unresolved(each, document))];
}

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
