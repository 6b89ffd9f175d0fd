import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { MUTATIONS } from '../simulate/mutations.ts';
import { INVARIANTS } from './invariants.ts';

test('docs/build/invariants.md is made of the list: npx vitest run test/invariants -u', async () => {
  const rows = INVARIANTS.map(({ holds, test: [file] }, index) => `${index + 1}. ${holds} \`${file}\``);
  const page = `# Invariants

For contributors: what always holds, and the test that fails when it does not. \`npm run test:invariants\` makes each invariant false in a
copy of the code, and runs its test: \`test/invariants/invariants.ts\` has the change and the test's name.

${rows.join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../../docs/build/invariants.md');
});

test('each change that makes an invariant false, or that a simulation must find, fits the code', async () => {
  const changes = [
    ...INVARIANTS.map(({ mutation: [file, text] }) => ({ file, text })),
    ...MUTATIONS.map(({ file, text }) => ({ file, text })),
  ];
  for (const { file, text } of changes) {
    const code = await readFile(join(PROJECT_ROOT, file), 'utf8');
    expect(code.split(text).length - 1, `${file}: ${text}`).toBe(1);
  }
});
