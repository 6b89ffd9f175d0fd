import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { INVARIANTS } from './invariants.ts';

const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

test('each mutation fits, once', () => {
  const counts = INVARIANTS.map(({ mutation: [file, text] }) => [file, text, textOf(file).split(text).length - 1]);
  expect(counts.filter(([, , count]) => count !== 1)).toEqual([]);
});

test('docs/build/invariants.md is made of the list: npx vitest run test/invariants -u', async () => {
  const rows = INVARIANTS.map(
    ({ holds, test: [file, name] }, index) => `| ${index + 1} | ${holds} | \`${file}\`: ${name} |`,
  );
  const page = `# Invariants

For contributors: what always holds, and the test that fails when it does not. \`npm run test:invariants\` shows that it does: for each
invariant it changes a copy of the code (\`test/invariants/invariants.ts\`) so that it is false, and runs the test. The fastest test is named:
end-to-end tests cover most of them again, such as the first in \`test/indexing/indexed-world.test.ts\`.

| | Invariant | Test |
|---|---|---|
${rows.join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../../docs/build/invariants.md');
});
