import { expect, test } from 'vitest';
import { z } from 'zod';
import { ChainsFile } from './chains-schema.ts';
import { settings } from './environment.ts';

/** The parts of a JSON schema that the page shows. */
interface Schema {
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Row {
  readonly name: string;
  readonly byDefault: string;
  readonly meaning: string | undefined;
}

/** Groups of settings in the order of the schema, the outermost first: their path, and what they hold themselves. */
function sectionsOf(schema: Schema, path: string): { path: string; about: string | undefined; rows: Row[] }[] {
  const rows: Row[] = [];
  const inner: ReturnType<typeof sectionsOf> = [];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const group = field.items ?? field;
    const at = `${path}${name}${field.items ? '[]' : ''}`;
    if (isGroup(group)) inner.push(...sectionsOf({ description: field.description, ...group }, `${at}.`));
    else rows.push({ name, byDefault: defaultOf(name, field, schema), meaning: field.description });
  }
  return [{ path: path.slice(0, -1), about: schema.description, rows }, ...inner];
}

/** A group's own fields say what they mean; an object whose fields do not is one setting. */
function isGroup({ properties }: Schema): boolean {
  return Object.values(properties ?? {}).some(({ description }) => description !== undefined);
}

/** In brackets; nothing for a setting that may be left out. */
function defaultOf(name: string, { default: value }: Schema, { required }: Schema): string {
  if (value !== undefined) return ` (\`${JSON.stringify(value)}\`)`;
  return required?.includes(name) ? ' (required)' : '';
}

const page = (sections: ReturnType<typeof sectionsOf>) =>
  sections
    .map(({ path, about, rows }) =>
      [
        path === '' ? '' : `### \`${path}\`\n`,
        about === undefined ? '' : `${about}\n`,
        ...rows.map(({ name, byDefault, meaning }) => `- \`${name}\`${byDefault}: ${meaning}`),
      ]
        .filter((line) => line !== '')
        .join('\n'),
    )
    .join('\n\n');

const jsonSchema = (type: z.ZodType) => z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema;
const environment = sectionsOf(jsonSchema(z.object(settings)), '');
const chainsFile = sectionsOf(jsonSchema(ChainsFile), '');
const rows = [...environment, ...chainsFile].flatMap((section) => section.rows);

test('every setting says what it means', () => {
  expect(rows.filter(({ meaning }) => !meaning).map(({ name }) => name)).toEqual([]);
});

// The last ones are a deployment's `router`, as nothing on a chain says which contract takers may call,
// `lagBlocks`, as operators alone know whether their sites take back what a reorganisation replaced, and
// `v0FromBlock`, as they alone know whether a longer first sync is worth old trades.
test('there are at most 82 settings', () => {
  expect(rows.length).toBeLessThanOrEqual(82);
});

test('docs/run/settings.md is made of the schemas: npx vitest run config/settings-page.test.ts -u', async () => {
  const text = `# Settings

For operators: every setting with its default in brackets, made from the schemas in \`config/\`. [Configure](configure.md) says how they are
read.

## Environment

${page(environment)}

## The chains file

${page(chainsFile.slice(1))}
`;
  await expect(text).toMatchFileSnapshot('../docs/run/settings.md');
});
