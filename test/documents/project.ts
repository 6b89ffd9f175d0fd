import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** The files that checks read. */
export interface Project {
  /** Files that git has or would add, from the root. */
  readonly files: readonly string[];
  readonly pages: readonly string[];
  readonly textOf: (path: string) => string;
}

/** Finds what is wrong: a line for each fault, none when all is well. */
export type Check = (project: Project) => readonly string[];

/** Pages made from code. */
export const GENERATED: readonly string[] = ['docs/run/settings.md', 'docs/use/totals.md', 'docs/build/invariants.md'];

/** Reads the checkout; each file once. */
export function readProject(): Project {
  const options = { cwd: PROJECT_ROOT, encoding: 'utf8' } as const;
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options).split('\n');
  const files = listed.filter((path) => path !== '' && existsSync(join(PROJECT_ROOT, path)));
  const texts = new Map<string, string>();
  const textOf = (path: string) => {
    const text = texts.get(path) ?? readFileSync(join(PROJECT_ROOT, path), 'utf8');
    texts.set(path, text);
    return text;
  };
  return { files, pages: files.filter((path) => path.endsWith('.md')), textOf };
}

/** A check that finds less to look at than there is has lost its way. */
export const expectMany = (what: string, found: readonly unknown[], least: number): readonly string[] =>
  found.length < least ? [`${what}: only ${found.length} found, of ${least} or more`] : [];
