import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ChainsFile } from '../config/chains-schema.ts';
import { settings } from '../config/environment.ts';

const document = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');

test.each(Object.keys(settings))('the environment table has %s', (name) => {
  expect(document).toMatch(new RegExp(`^\\| \`${name}\` \\|`, 'm'));
});

test.each([...fieldNames(z.toJSONSchema(ChainsFile, { io: 'input', unrepresentable: 'any' }))])(
  'the field %s of the chains file is documented',
  (name) => {
    expect(document).toMatch(new RegExp(`\`([a-z]+\\[\\]\\.)?${name}(\\[\\])?[:\`]|"${name}"`));
  },
);

/** Names of all properties in a JSON schema, at any depth. */
function fieldNames(schema: unknown): Set<string> {
  if (typeof schema !== 'object' || schema === null) return new Set();
  const children = Object.values(schema).flatMap((child) => [...fieldNames(child)]);
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return new Set([...own, ...children]);
}
