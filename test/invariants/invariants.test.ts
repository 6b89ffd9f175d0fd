import { expect, test } from 'vitest';
import { INVARIANTS } from './invariants.ts';

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
