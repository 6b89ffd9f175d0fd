import { expect, test } from 'vitest';
import { CHECKS } from './checks.ts';
import { type Project, readProject } from './project.ts';

const project = readProject();

/** The project with one file changed. */
const withFile = (path: string, change: (text: string) => string): Project => ({
  ...project,
  textOf: (each) => (each === path ? change(project.textOf(path)) : project.textOf(each)),
});
const replaced = (path: string, text: string, replacement: string) =>
  withFile(path, (before) => {
    expect(before).toContain(text);
    return before.replace(text, replacement);
  });
const without = (path: string): Project => ({ ...project, files: project.files.filter((each) => each !== path) });
const appended = (path: string, text: string) => withFile(path, (before) => `${before}\n${text}\n`);

const broken: Readonly<Record<string, () => Project>> = {
  'pages are short enough': () => appended('docs/use/route.md', 'word '.repeat(23_000)),
  'each folder has a README that says what it may import': () => without('chain/README.md'),
  'each page of docs/ lies on a shelf': () => withFile('docs/use/route.md', (text) => text.replace('\n\n', '\n\n- ')),
  'links lead somewhere': () => appended('README.md', '[a link](docs/use/route.md#of-nowhere)'),
  'pages that code names exist': () => without('docs/run/operate.md'),
  'each alert has its line in operate.md': () => appended('ops/alerts.yml', '- alert: Nowhere'),
  'endpoints of the README exist': () =>
    replaced('README.md', '`GET /evm/{chain_id}/tokens', '`GET /evm/{chain_id}/coins'),
  'a balancer forwards all that is public': () => replaced('docs/run/install.md', '`/rpc`, ', ''),
  'commands exist': () => appended('README.md', 'npm run nothing'),
  'pages name the Node of package.json': () => appended('README.md', 'Node 23'),
  'words of docs/style.md are not used': () => appended('README.md', ['non', 'sense'].join('')),
  'comments are no wider than code': () => appended('runtime/json.ts', `// ${'wide '.repeat(30)}`),
  'what pages promise without exception is in test/documents/promises.ts': () =>
    appended('README.md', 'It never fails.'),
  'each promise is in its page, and its test exists': () => without('test/quotes/every-amount-fills.test.ts'),
  'each invariant has a mutation that fits, and a test': () =>
    replaced('runtime/json.ts', 'Number.isSafeInteger(value)', 'Number.isInteger(value)'),
  'packages are few, and have their reasons': () => replaced('docs/build/dependencies.md', '`hono`', 'hono'),
  'the dependency bot knows its packages': () => replaced('renovate.json', '"ponder"', '"ponderous"'),
};

test.each(Object.keys(broken))('%s, or else a fault is named', (name) => {
  const faults = CHECKS[name]?.(broken[name]?.() ?? project);
  expect(faults?.length).toBeGreaterThan(0);
});
