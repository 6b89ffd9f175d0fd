import { expect, test } from 'vitest';
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
