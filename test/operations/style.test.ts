import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const LIST = 'docs/style.md';
/** They are not ours to reword, or ran already. */
const LEFT_OUT = /^(migrations|patches)\/|^package-lock\.json$|^devnet\/compiled-contracts\.json$|\.(png|svg)$/;

const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

const [, list = ''] = textOf(LIST).split('## Words that a test rejects');
const patterns = [...list.matchAll(/^- `(.+?)`: /gm)].map(([, text = '']) => text);

test('words of docs/style.md are not used', () => {
  expect(patterns.length).toBeGreaterThan(15);
  const rejected = new RegExp(patterns.join('|'), 'gi');
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  }).split('\n');
  const found = files
    .filter((path) => path !== '' && path !== LIST && !LEFT_OUT.test(path) && existsSync(join(PROJECT_ROOT, path)))
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line, index) => (line.match(rejected) ?? []).map((word) => `${path}:${index + 1}: ${word}`)),
    );
  expect(found).toEqual([]);
});
